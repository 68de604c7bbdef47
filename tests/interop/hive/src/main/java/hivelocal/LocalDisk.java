package hivelocal;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * The local disk, asked by Java itself. Hadoop without its native library starts {@code chmod} and {@code ls} for
 * each right that it sets or looks up. Nobody here needs sticky bits, which are left out.
 */
public final class LocalDisk extends LocalFileSystem {
  public LocalDisk() {
    super(new WithoutProcesses());
  }

  /** The same for what asks by FileContext, as Tez does. */
  public static final class OfContext extends DelegateToFileSystem {
    public OfContext(URI uri, Configuration conf) throws IOException, URISyntaxException {
      super(uri, new WithoutProcesses(), conf, "file", false);
    }

    @Override
    public int getUriDefaultPort() {
      return -1;
    }

    @Override
    public boolean isValidName(String src) {
      return true;
    }
  }

  private static final class WithoutProcesses extends RawLocalFileSystem {
    @Override
    public void setPermission(Path p, FsPermission permission) throws IOException {
      String rights = permission.getUserAction().SYMBOL + permission.getGroupAction().SYMBOL + permission.getOtherAction().SYMBOL;
      Files.setPosixFilePermissions(pathToFile(p).toPath(), PosixFilePermissions.fromString(rights));
    }

    @Override
    public FileStatus getFileStatus(Path p) throws IOException {
      FileStatus s = super.getFileStatus(p); // asks nobody until its rights are wanted
      PosixFileAttributes a;
      try {
        a = Files.readAttributes(pathToFile(p).toPath(), PosixFileAttributes.class);
      } catch (NoSuchFileException gone) { // in between; Hadoop knows the other exception alone
        throw (IOException) new FileNotFoundException(p.toString()).initCause(gone);
      }
      return new FileStatus(s.getLen(), s.isDirectory(), s.getReplication(), s.getBlockSize(), s.getModificationTime(), s.getAccessTime(),
          FsPermission.valueOf((s.isDirectory() ? "d" : "-") + PosixFilePermissions.toString(a.permissions())),
          a.owner().getName(), a.group().getName(), s.getPath());
    }
  }
}
