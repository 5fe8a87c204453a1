import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;

/** Runs Neo4j in this process until it is told to end: the server's jars come without an entry point of their own. */
public class Neo4jServer {
    private static final long PATIENCE = 120_000;
    private static final String PASSWORD = System.getenv("KGNAV_NEO4J_PASSWORD");

    public static void main(String[] arguments) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler((thread, error) -> {
            error.printStackTrace();
            Runtime.getRuntime().halt(1);
        });
        Path home = Path.of(arguments[0]);
        var service = new DatabaseManagementServiceBuilder(home)
                .loadPropertiesFromFile(home.resolve("conf/neo4j.conf"))
                .build();
        Runtime.getRuntime().addShutdownHook(new Thread(service::shutdown));
        if (PASSWORD != null && !PASSWORD.isEmpty()) {
            service.database("system").executeTransactionally(
                    "ALTER USER neo4j SET PASSWORD $password CHANGE NOT REQUIRED", Map.of("password", PASSWORD));
        }
        if (!service.database("neo4j").isAvailable(PATIENCE)) {
            throw new IllegalStateException("the database neo4j did not start");
        }
        Files.createFile(home.resolve("ready"));
        Thread.currentThread().join();
    }
}
