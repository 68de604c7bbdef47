package hivesql;

import static hivesql.RunTests.same;

import java.nio.charset.StandardCharsets;

final class SmallFilesTest {
    private static final byte[] ABC = "abc".getBytes(StandardCharsets.UTF_8);
    private static final String DIGEST =
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    private SmallFilesTest() {}

    private static KnownFile known(String version, String digest) {
        return new KnownFile(version, digest, null);
    }

    static void filesAreKnownByVersionOrDigest() {
        SmallFiles.remember("a", known("1", ""), ABC);
        SmallFiles.remember("b", ABC);
        same(true, SmallFiles.recall("a", known("1", "")) == ABC);
        same(true, SmallFiles.recall("a", known("2", "")) == null);
        same(true, SmallFiles.recall("a", KnownFile.UNKNOWN) == null);
        same(true, SmallFiles.recall("b", known("1", DIGEST)) == ABC);
        same(true, SmallFiles.recall("b", known("1", "")) == null);
        same(true, SmallFiles.recall("c", known("1", DIGEST)) == null);
        same(true, SmallFiles.recall("c", new KnownFile("", "", ABC)) == ABC);
    }

    static void theOldestAreForgotten() {
        SmallFiles.remember("first", known("1", ""), ABC);
        byte[] large = new byte[SmallFiles.LARGEST];
        for (int i = 0; i < 17; i++) SmallFiles.remember("large" + i, known("1", ""), large);
        same(true, SmallFiles.recall("first", known("1", "")) == null);
        same(true, SmallFiles.recall("large16", known("1", "")) == large);
        SmallFiles.remember("more", known("1", ""), new byte[SmallFiles.LARGEST + 1]);
        same(true, SmallFiles.recall("more", known("1", "")) == null);
    }
}
