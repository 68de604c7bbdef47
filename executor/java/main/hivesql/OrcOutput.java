package hivesql;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.orc.OrcFile;

/** Where ORC files of ours are written. */
final class OrcOutput {
    private OrcOutput() {}

    /** ORC's options for a file that is to be written at a path: times are the wall clock of UTC. */
    static OrcFile.WriterOptions options(Path path, Configuration settings) throws IOException {
        FileSystem system = path.getFileSystem(settings);
        if (system instanceof LocalFileSystem) {
            system = new ChecksumFreeFiles();
            system.initialize(FileSystem.getLocal(settings).getUri(), settings);
        }
        return options(system, settings);
    }

    /** The same for a file of that file system. */
    static OrcFile.WriterOptions options(FileSystem system, Configuration settings) {
        return OrcFile.writerOptions(settings).fileSystem(system).useUTCTimestamp(true);
    }
}

/**
 * Local files without checksums beside them, which would not move along with them, and without a
 * process for each: Hadoop runs chmod where its native library is missing.
 */
final class ChecksumFreeFiles extends RawLocalFileSystem {
    public void setPermission(Path path, FsPermission permission) throws IOException {
        try {
            Files.setPosixFilePermissions(
                    pathToFile(path).toPath(), PosixFilePermissions.fromString(permission.toString()));
        } catch (UnsupportedOperationException otherFileSystem) {
            super.setPermission(path, permission);
        } catch (IllegalArgumentException stickyBit) {
            super.setPermission(path, permission);
        }
    }
}
