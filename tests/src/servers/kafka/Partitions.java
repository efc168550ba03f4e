// Prints the partition that Kafka's own producer chooses for each key: the first argument is the number of partitions, the
// others are keys. No server is asked.
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;

class Partitions {
    public static void main(String[] arguments) {
        int partitions = Integer.parseInt(arguments[0]);
        for (int at = 1; at < arguments.length; at++) {
            byte[] key = arguments[at].getBytes(java.nio.charset.StandardCharsets.UTF_8);
            System.out.println(BuiltInPartitioner.partitionForKey(key, partitions));
        }
    }
}
