package hivesql;

import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * The beginnings of files that may still grow: ORC looks for its footer at their end.
 *
 * <p>hivesqlflushed:/LENGTH/SCHEME,AUTHORITY/PATH is the file SCHEME://AUTHORITY/PATH up to LENGTH.
 */
public final class FlushedFiles extends FileSystem {
    private static final String REFUSED = "a growing file can only be read";

    public String getScheme() {
        return "hivesqlflushed";
    }

    public URI getUri() {
        return URI.create("hivesqlflushed:///");
    }

    private static String[] parts(Path path) {
        return path.toUri().getPath().substring(1).split("/", 3);
    }

    private FileSystem systemOf(Path real) throws IOException {
        return real.getFileSystem(getConf());
    }

    private static Path real(Path path) {
        String[] parts = parts(path);
        int comma = parts[1].indexOf(',');
        String scheme = parts[1].substring(0, comma);
        String authority = parts[1].substring(comma + 1);
        return new Path(
                scheme.isEmpty() ? null : scheme, authority.isEmpty() ? null : authority,
                "/" + parts[2]);
    }

    public FSDataInputStream open(Path path, int bufferSize) throws IOException {
        Path real = real(path);
        return systemOf(real).open(real, bufferSize);
    }

    public FileStatus getFileStatus(Path path) throws IOException {
        Path real = real(path);
        FileStatus found = systemOf(real).getFileStatus(real);
        long length = Long.parseLong(parts(path)[0]);
        if (found.getLen() < length) {
            throw new IOException(real + " has become shorter than what its writer flushed");
        }
        return new FileStatus(
                length, false, found.getReplication(), found.getBlockSize(),
                found.getModificationTime(), makeQualified(path));
    }

    public FileStatus[] listStatus(Path path) throws IOException {
        return new FileStatus[] {getFileStatus(path)};
    }

    public Path getWorkingDirectory() {
        return new Path("/");
    }

    public void setWorkingDirectory(Path path) {
        throw new UnsupportedOperationException(REFUSED);
    }

    public FSDataOutputStream create(
            Path path, FsPermission permission, boolean overwrite, int bufferSize,
            short replication, long blockSize, Progressable progress) throws IOException {
        throw new IOException(REFUSED);
    }

    public FSDataOutputStream append(Path path, int bufferSize, Progressable progress)
            throws IOException {
        throw new IOException(REFUSED);
    }

    public boolean rename(Path source, Path target) throws IOException {
        throw new IOException(REFUSED);
    }

    public boolean delete(Path path, boolean recursive) throws IOException {
        throw new IOException(REFUSED);
    }

    public boolean mkdirs(Path path, FsPermission permission) throws IOException {
        throw new IOException(REFUSED);
    }
}
