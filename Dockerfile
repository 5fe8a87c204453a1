# The server over HTTP, or any other command of kgnav, without root:
#
#   docker build --tag kgnav-mcp .
#   docker run --rm --publish 127.0.0.1:8365:8365 --volume "$PWD/graphs:/graphs:ro" --env KGNAV_GRAPH=/graphs/films.kg kgnav-mcp
#   docker run --rm --interactive --volume "$PWD/graphs:/graphs:ro" kgnav-mcp serve --graph /graphs/films.kg    (stdio)
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN python -m venv /opt/kgnav \
    && /opt/kgnav/bin/pip install --no-cache-dir --disable-pip-version-check --only-binary :all: --no-binary kgnav-mcp ".[redis]"

FROM python:3.13-slim
# The MCP registry compares this name with the one in server.json.
ARG REGISTRY_NAME=io.github.OWNER/kgnav-mcp
LABEL io.modelcontextprotocol.server.name="${REGISTRY_NAME}" \
      org.opencontainers.image.licenses="MIT"
RUN useradd --create-home --uid 10001 kgnav
COPY --from=build /opt/kgnav /opt/kgnav
ENV PATH="/opt/kgnav/bin:${PATH}" PYTHONUNBUFFERED=1
USER kgnav
WORKDIR /home/kgnav
EXPOSE 8365
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import socket; socket.create_connection(('127.0.0.1', 8365), 4).close()"]
ENTRYPOINT ["kgnav"]
CMD ["serve", "--http", "0.0.0.0:8365"]
