package hivesql;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.security.CodeSource;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * One step after the other of what a warehouse needs of its place, with a file that is removed again.
 *
 * <p>Its file system is its own, which gives up soon. Steps that fail throw what Hadoop throws.
 */
public final class PlaceProbe {
    private static final byte[] BYTES = {'h', 'i', 'v', 'e', 's', 'q', 'l'};
    private static final String CONDITIONAL = "fs.option.create.conditional.overwrite";
    private static final Pattern VERSION = Pattern.compile("-(\\d[^/]*)\\.jar$");
    private static final Pattern LAST = Pattern.compile("last provider: (\\w+)");

    private final Configuration settings;
    private final Path root;
    private final String name;
    private FileSystem system;
    private Path file;

    /** A probe of a directory that leaves nothing in it; {@code name} is that of its file. */
    public PlaceProbe(Configuration settings, String root, String name) {
        this.settings = new Configuration(settings);
        this.root = new Path(root);
        this.name = name;
        this.settings.set("fs.s3a.attempts.maximum", "1");
        this.settings.set("fs.s3a.retry.limit", "1");
        this.settings.set("fs.s3a.retry.interval", "100ms");
        this.settings.set("fs.s3a.connection.establish.timeout", "5s");
        this.settings.setInt("ipc.client.connect.max.retries", 1);
        this.settings.setInt("ipc.client.connect.max.retries.on.timeouts", 1);
    }

    /** The version in the name of the jar that the place's file system comes from; "" for none. */
    public String connectorVersion() throws IOException {
        CodeSource source = FileSystem.getFileSystemClass(root.toUri().getScheme(), settings)
                .getProtectionDomain().getCodeSource();
        URL jar = source == null ? null : source.getLocation();
        Matcher version = VERSION.matcher(jar == null ? "" : jar.getPath());
        return version.find() ? version.group(1) : "";
    }

    /** Make the file system, which asks no object store. */
    public void open() throws IOException {
        system = FileSystem.newInstance(root.toUri(), settings);
        Path place = root;
        // A directory that is to be made is written into the one above it.
        while (!ObjectStore.isAmazons(system) && !place.isRoot() && !system.exists(place)) {
            place = place.getParent();
        }
        file = new Path(place, name);
    }

    /** The class that gives S3A its credentials; "" where a file system does not tell. */
    public String credentials() throws Exception {
        try {
            Object list = system.getClass().getMethod("shareCredentials", String.class)
                    .invoke(system, "hivesql doctor");
            try {
                resolve(list);
                Matcher last = LAST.matcher(list.toString());
                return last.find() ? last.group(1) : "";
            } finally {
                ((AutoCloseable) list).close();
            }
        } catch (NoSuchMethodException unlike) {
            return "";
        } catch (InvocationTargetException failed) {
            if (failed.getCause() instanceof Exception reason) throw reason;
            throw failed;
        }
    }

    /** As the second kit of AWS has it, or else the first. */
    private static void resolve(Object list) throws ReflectiveOperationException {
        try {
            list.getClass().getMethod("resolveCredentials").invoke(list);
        } catch (NoSuchMethodException older) {
            list.getClass().getMethod("getCredentials").invoke(list);
        }
    }

    /** Whether the directory is there, and may be listed; asks for the bucket too. */
    public boolean list() throws IOException {
        try {
            system.listStatus(root);
            return true;
        } catch (FileNotFoundException missing) {
            return false;
        }
    }

    /** Write the file, on condition that there is none. */
    public void write() throws IOException {
        FSDataOutputStreamBuilder<?, ?> builder =
                system.createFile(file).overwrite(false).recursive();
        builder.opt(CONDITIONAL, "true");
        try (FSDataOutputStream stream = builder.build()) {
            stream.write(BYTES);
        }
    }

    /** Whether Hadoop leaves it to the store that a file is written once. */
    public boolean asksOnce() throws IOException {
        return system.hasPathCapability(file, CONDITIONAL);
    }

    /** Whether the file is not written a second time. */
    public boolean refusesSecond() throws IOException {
        try {
            write();
            return false;
        } catch (FileAlreadyExistsException there) {
            return true;
        } catch (IOException other) {
            // What a store answers where the condition does not hold.
            if (String.valueOf(other.getMessage()).contains("412")) return true;
            throw other;
        }
    }

    /** Milliseconds by which the clock of the place is ahead of this machine's. */
    public long clockAhead() throws IOException {
        long before = System.currentTimeMillis();
        FileStatus status = system.getFileStatus(file);
        return status.getModificationTime() - before;
    }

    /** Whether the file holds what was written. */
    public boolean read() throws IOException {
        byte[] bytes = new byte[BYTES.length];
        try (FSDataInputStream stream = system.open(file)) {
            stream.readFully(bytes);
        }
        return Arrays.equals(bytes, BYTES);
    }

    /** Begin an upload and give it up; false where the file system has none. */
    public boolean upload() throws IOException {
        if (!ObjectStore.takesUploads(system, file)) return false;
        Uploads.Stream upload = Uploads.begin(system, new Path(root, file.getName() + "-upload"));
        upload.begin();
        upload.giveUp();
        return true;
    }

    /** How many uploads wait below the directory, of anybody. */
    public long waitingUploads() throws IOException {
        return Uploads.waiting(system, root).chars().filter(c -> c == 0).count() / 2;
    }

    /** Remove the file, and leave no marker of its directory instead of it. */
    public void delete() throws Exception {
        if (!ObjectStore.isAmazons(system)) {
            system.delete(file, false);
            return;
        }
        try {
            Object failures = Class.forName("org.apache.hadoop.io.wrappedio.WrappedIO")
                    .getMethod("bulkDelete_delete", FileSystem.class, Path.class, Collection.class)
                    .invoke(null, system, file.getParent(), List.of(file));
            for (Object failure : (Collection<?>) failures) throw new IOException(failure.toString());
        } catch (ClassNotFoundException older) {
            system.delete(file, false);
        } catch (InvocationTargetException failed) {
            if (failed.getCause() instanceof Exception reason) throw reason;
            throw failed;
        }
    }

    /** Let go of the file system. */
    public void close() throws IOException {
        if (system != null) system.close();
    }
}
