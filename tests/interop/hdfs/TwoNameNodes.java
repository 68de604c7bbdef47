import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.MiniDFSNNTopology;

/**
 * An HDFS of two name nodes, one of which is active, and a data node, until it is killed.
 *
 * <p>Prints the ports of both and one to which each connection is a word: {@code move} lets the other
 * be active, {@code kill} ends the active one before, {@code revive} starts it again.
 */
public final class TwoNameNodes {
    private final MiniDFSCluster cluster;
    private int active;
    private int dead = -1;

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

    private void obey(String word) throws Exception {
        if (word.equals("revive")) {
            if (dead >= 0) cluster.restartNameNode(dead, true);
            dead = -1;
            return;
        }
        if (word.equals("kill")) {
            cluster.shutdownNameNode(active);
            dead = active;
        } else {
            cluster.transitionToStandby(active);
        }
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
                String word = new BufferedReader(
                        new InputStreamReader(client.getInputStream())).readLine();
                nodes.obey(word);
                client.getOutputStream().write("done\n".getBytes());
            }
        }
    }
}
