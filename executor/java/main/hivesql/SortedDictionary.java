package hivesql;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.Text;
import org.apache.orc.OrcConf;
import org.apache.orc.Writer;
import org.apache.orc.impl.Dictionary;
import org.apache.orc.impl.StringRedBlackTree;
import org.apache.orc.impl.writer.TreeWriter;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.array.ByteArrayMethods;
import org.apache.spark.unsafe.hash.Murmur3_x86_32;

/**
 * A dictionary of a string column that finds words by their hash, and writes them in order.
 *
 * <p>ORC's specification wants dictionaries sorted. Its red-black tree compares each value with as
 * many words as the tree is deep, which is a third of what it costs to write a table with a column
 * of few words; its hash table leaves the words unsorted. Sorted when a stripe is written, the
 * files are the same as by the tree.
 */
final class SortedDictionary implements Dictionary {
    private static final int FIRST_WORDS = 32;

    private byte[] bytes = new byte[8 * FIRST_WORDS];
    /** Where each word ends in the bytes, and the next one begins. */
    private int[] ends = new int[FIRST_WORDS];
    private int[] hashes = new int[FIRST_WORDS];
    private int size;
    /** A word's number plus one at its hash, or where free after it; at most half full. */
    private int[] table = new int[2 * FIRST_WORDS];

    private SortedDictionary() {}

    /** Put them in place of a new writer's trees, unless settings ask for an implementation. */
    static Writer use(Writer writer, Configuration settings) {
        if (settings.get(OrcConf.DICTIONARY_IMPL.getAttribute()) == null) {
            try {
                replace(writer);
            } catch (IllegalAccessException error) {
                throw new IllegalStateException(error);
            }
        }
        return writer;
    }

    /** In a writer, of a file or of a column, and in all writers of columns inside it. */
    private static void replace(Object writer) throws IllegalAccessException {
        for (Class kind = writer.getClass(); kind != null; kind = kind.getSuperclass()) {
            Field[] fields = kind.getDeclaredFields();
            for (int i = 0; i < fields.length; i++) {
                Class type = fields[i].getType();
                if (type == Dictionary.class) {
                    fields[i].setAccessible(true);
                    if (fields[i].get(writer) instanceof StringRedBlackTree) {
                        fields[i].set(writer, new SortedDictionary());
                    }
                } else if (type == TreeWriter.class) {
                    fields[i].setAccessible(true);
                    replace(fields[i].get(writer));
                } else if (type == TreeWriter[].class) {
                    fields[i].setAccessible(true);
                    TreeWriter[] inside = (TreeWriter[]) fields[i].get(writer);
                    for (int j = 0; j < inside.length; j++) {
                        replace(inside[j]);
                    }
                }
            }
        }
    }

    public int add(byte[] word, int offset, int length) {
        int hash = Murmur3_x86_32.hashUnsafeBytes(
                word, (long) (Platform.BYTE_ARRAY_OFFSET + offset), length, 42);
        int at = hash & table.length - 1;
        while (table[at] != 0) {
            int known = table[at] - 1;
            if (hashes[known] == hash && is(known, word, offset, length)) return known;
            at = at + 1 & table.length - 1;
        }
        if (size == ends.length) {
            grow();
            at = free(hash);
        }
        int start = start(size);
        if (length > Integer.MAX_VALUE - 8 - start) {
            throw new IllegalStateException("a stripe has too many words: lower orc.stripe.size");
        }
        if (start + length > bytes.length) {
            long twice = Math.max(2L * (long) bytes.length, (long) (start + length));
            bytes = Arrays.copyOf(bytes, (int) Math.min(twice, (long) (Integer.MAX_VALUE - 8)));
        }
        System.arraycopy(word, offset, bytes, start, length);
        ends[size] = start + length;
        hashes[size] = hash;
        table[at] = size + 1;
        return size++;
    }

    private boolean is(int known, byte[] word, int offset, int length) {
        int start = start(known);
        return ends[known] - start == length
                && ByteArrayMethods.arrayEquals(
                        bytes, (long) (Platform.BYTE_ARRAY_OFFSET + start),
                        word, (long) (Platform.BYTE_ARRAY_OFFSET + offset), (long) length);
    }

    private int start(int position) {
        return position == 0 ? 0 : ends[position - 1];
    }

    private int free(int hash) {
        int at = hash & table.length - 1;
        while (table[at] != 0) {
            at = at + 1 & table.length - 1;
        }
        return at;
    }

    private void grow() {
        ends = Arrays.copyOf(ends, 2 * size);
        hashes = Arrays.copyOf(hashes, 2 * size);
        table = new int[4 * size];
        for (int i = 0; i < size; i++) {
            table[free(hashes[i])] = i + 1;
        }
    }

    public void clear() {
        size = 0;
        Arrays.fill(table, 0);
    }

    public int size() {
        return size;
    }

    /** Of what it holds, not of room that a longer stripe left: stripes end by it. */
    public long getSizeInBytes() {
        return (long) start(size) + 16L * (long) size;
    }

    public void getText(Text text, int position) {
        text.set(bytes, start(position), ends[position] - start(position));
    }

    public ByteBuffer getText(int position) {
        return ByteBuffer.wrap(bytes, start(position), ends[position] - start(position));
    }

    public int writeTo(OutputStream out, int position) throws IOException {
        int length = ends[position] - start(position);
        out.write(bytes, start(position), length);
        return length;
    }

    public void visit(Dictionary.Visitor visitor) throws IOException {
        Word[] words = new Word[size];
        for (int i = 0; i < size; i++) {
            words[i] = new Word(bytes, i, start(i), ends[i] - start(i));
        }
        Arrays.sort(words);
        for (int i = 0; i < size; i++) {
            visitor.visit(words[i]);
        }
    }

    private static final class Word implements Dictionary.VisitorContext, Comparable {
        private final byte[] bytes;
        private final int position;
        private final int start;
        private final int length;

        Word(byte[] bytes, int position, int start, int length) {
            this.bytes = bytes;
            this.position = position;
            this.start = start;
            this.length = length;
        }

        public int getOriginalPosition() {
            return position;
        }

        public void writeBytes(OutputStream out) throws IOException {
            out.write(bytes, start, length);
        }

        public Text getText() {
            Text text = new Text();
            text.set(bytes, start, length);
            return text;
        }

        public int getLength() {
            return length;
        }

        public int compareTo(Object other) {
            Word that = (Word) other;
            return Arrays.compareUnsigned(
                    bytes, start, start + length, that.bytes, that.start, that.start + that.length);
        }
    }
}
