import java.io.File;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.MiniDFSNNTopology;

/**
 * An HDFS of two name nodes, one of which is active, and a data node, until it is killed.
 *
 * <p>Prints the ports of both and one at which each connection lets the other be active.
 */
public final class TwoNameNodes {
    private final MiniDFSCluster cluster;
    private int active;

    private TwoNameNodes(String place) throws Exception {
        Configuration settings = new Configuration();
        settings.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, new File(place, "dfs").getPath());
        settings.setInt("dfs.ha.tail-edits.period", 1);
        cluster =
                new MiniDFSCluster.Builder(settings)
                        .nnTopology(MiniDFSNNTopology.simpleHATopology())
                        .numDataNodes(1)
                        .build();
        cluster.waitActive();
        cluster.transitionToActive(0);
    }

    private void move() throws Exception {
        cluster.transitionToStandby(active);
        active = 1 - active;
        cluster.transitionToActive(active);
    }

    public static void main(String[] arguments) throws Exception {
        TwoNameNodes nodes = new TwoNameNodes(arguments[0]);
        ServerSocket control = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        System.out.println(
                "ports " + nodes.cluster.getNameNodePort(0) + " " + nodes.cluster.getNameNodePort(1)
                        + " " + control.getLocalPort());
        while (true) {
            try (Socket client = control.accept()) {
                nodes.move();
                client.getOutputStream().write("done\n".getBytes());
            }
        }
    }
}
