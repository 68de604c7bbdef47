package hivelocal;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Properties;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.common.ValidReaderWriteIdList;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.ql.io.AcidInputFormat;
import org.apache.hadoop.hive.ql.io.AcidUtils;
import org.apache.hadoop.hive.ql.io.BucketCodec;
import org.apache.hadoop.hive.ql.io.RecordIdentifier;
import org.apache.hadoop.hive.ql.io.orc.OrcFile;
import org.apache.hadoop.hive.ql.io.orc.OrcInputFormat;
import org.apache.hadoop.hive.ql.io.orc.OrcSerde;
import org.apache.hadoop.hive.serde2.SerDeUtils;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.StructField;
import org.apache.hadoop.hive.serde2.objectinspector.StructObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.primitive.BinaryObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.primitive.HiveDecimalObjectInspector;
import org.apache.hadoop.hive.serde2.typeinfo.StructTypeInfo;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfo;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfoUtils;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapred.FileInputFormat;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RecordReader;
import org.apache.hadoop.mapred.Reporter;

/** Reads table or partition directories with Hive's own OrcInputFormat (row mode: OrcRawRecordMerger), no metastore. */
final class Reader {
  /** Read once: it takes longer than most directories. */
  private static final HiveConf SETTINGS = new HiveConf(Reader.class);

  /** Options before a directory are that directory's alone, so that one start may read many. */
  static int main(List<String> a) throws Exception {
    while (!a.isEmpty()) {
      long hwm = Long.MAX_VALUE;
      String schema = null;
      TreeSet<Long> aborted = new TreeSet<>(), open = new TreeSet<>();
      while (a.get(0).startsWith("-")) {
        String o = a.remove(0);
        if (o.equals("-w")) hwm = Long.parseLong(a.remove(0));
        else if (o.equals("-c")) { // counts for all directories after it
          String[] kv = a.remove(0).split("=", 2);
          SETTINGS.set(kv[0], kv[1]);
        } else if (o.equals("-s")) schema = a.remove(0);
        else if (o.equals("-x")) for (String s : a.remove(0).split(",")) aborted.add(Long.parseLong(s));
        else if (o.equals("-o")) for (String s : a.remove(0).split(",")) open.add(Long.parseLong(s));
        else throw new IllegalArgumentException(o);
      }
      String d = a.remove(0);
      Main.OUT.println("### " + d);
      Path root = d.contains("://") ? new Path(d) : new Path(new File(d).getCanonicalFile().toURI());
      FileSystem fs = root.getFileSystem(SETTINGS);
      List<Path> parts = new ArrayList<>();
      leaves(fs, root, parts);
      for (Path p : parts) {
        Main.OUT.println("# " + relative(root, p));
        one(fs, p, schema, hwm, aborted, open);
      }
    }
    return 0;
  }

  static boolean skip(FileStatus f) {
    return f.getPath().getName().startsWith(".") || f.getPath().getName().startsWith("_");
  }

  /** Partition directories (k=v) below root, or root itself. */
  static void leaves(FileSystem fs, Path d, List<Path> out) throws IOException {
    FileStatus[] found = fs.exists(d) ? fs.listStatus(d) : new FileStatus[0];
    List<Path> below = Arrays.stream(found).filter(f -> f.isDirectory() && f.getPath().getName().contains("=") && !skip(f))
        .map(FileStatus::getPath).sorted().collect(Collectors.toList());
    if (below.isEmpty()) {
      out.add(d);
    }
    for (Path p : below) {
      leaves(fs, p, out);
    }
  }

  /** What lies between a directory and one below it. */
  static String relative(Path root, Path below) {
    return below.equals(root) ? "" : below.toUri().getPath().substring(root.toUri().getPath().length() + 1);
  }

  static Path firstOrc(FileSystem fs, Path d, boolean deletes) throws IOException {
    FileStatus[] found = fs.listStatus(d);
    Arrays.sort(found);
    for (FileStatus f : found) {
      String name = f.getPath().getName();
      if (skip(f)) continue;
      if (f.isDirectory()) {
        if (!deletes && name.startsWith("delete_delta_")) continue;
        Path r = firstOrc(fs, f.getPath(), deletes);
        if (r != null) return r;
      } else if (f.getLen() > 3 && !name.endsWith("_flush_length")) {
        return f.getPath();
      }
    }
    return null;
  }

  static void one(FileSystem fs, Path dir, String schema, long hwm, TreeSet<Long> aborted, TreeSet<Long> open) throws Exception {
    JobConf job = new JobConf(SETTINGS);
    job.set("fs.defaultFS", "file:///");
    HiveConf.setBoolVar(job, HiveConf.ConfVars.HIVE_VECTORIZATION_ENABLED, false);
    if (schema == null) {
      Path f = fs.exists(dir) ? firstOrc(fs, dir, false) : null;
      if (f == null) {
        return;
      }
      String s = OrcFile.createReader(f, OrcFile.readerOptions(job)).getSchema().toString();
      StructTypeInfo st = (StructTypeInfo) TypeInfoUtils.getTypeInfoFromTypeString(s);
      schema = st.getAllStructFieldNames().size() == 6 && st.getAllStructFieldNames().get(5).equals("row")
          ? st.getAllStructFieldTypeInfos().get(5).getTypeName() : s;
    }
    StructTypeInfo st = (StructTypeInfo) TypeInfoUtils.getTypeInfoFromTypeString(schema);
    String names = String.join(",", st.getAllStructFieldNames());
    String types = st.getAllStructFieldTypeInfos().stream().map(TypeInfo::getTypeName).collect(Collectors.joining(":"));
    job.set("columns", names);
    job.set("columns.types", types);
    job.set("schema.evolution.columns", names);
    job.set("schema.evolution.columns.types", types);
    job.setBoolean("hive.io.file.read.all.columns", true);
    job.set("bucket_count", "-1");
    AcidUtils.setAcidOperationalProperties(job, true, AcidUtils.AcidOperationalProperties.getDefault());
    TreeSet<Long> ex = new TreeSet<>(aborted);
    ex.addAll(open);
    long[] arr = ex.stream().mapToLong(Long::longValue).toArray();
    BitSet bits = new BitSet();
    for (int i = 0; i < arr.length; i++) {
      if (aborted.contains(arr[i])) bits.set(i);
    }
    AcidUtils.setValidWriteIdList(job, new ValidReaderWriteIdList("default.t", arr, bits, hwm, open.isEmpty() ? Long.MAX_VALUE : open.first()));
    job.set("hive.txn.valid.txns", new org.apache.hadoop.hive.common.ValidReadTxnList(new long[0], new BitSet(), Long.MAX_VALUE, Long.MAX_VALUE).writeToString());
    job.set("transactional", "true"); // without these two the splits are raw files of no ACID table
    job.set("transactional_properties", "default");
    FileInputFormat.setInputPaths(job, dir);
    Properties p = new Properties();
    p.setProperty("columns", names);
    p.setProperty("columns.types", types);
    OrcSerde serde = new OrcSerde();
    serde.initialize(job, p, null);
    StructObjectInspector oi = (StructObjectInspector) serde.getObjectInspector();
    OrcInputFormat in = new OrcInputFormat();
    Main.OUT.println("## row__id\t" + names.replace(',', '\t'));
    for (InputSplit sp : in.getSplits(job, 1)) {
      RecordReader<?, ?> rr0 = in.getRecordReader(sp, job, Reporter.NULL);
      @SuppressWarnings("unchecked")
      RecordReader<Object, Writable> rr = (RecordReader<Object, Writable>) rr0;
      Object k = rr.createKey();
      Writable v = rr.createValue();
      while (rr.next(k, v)) {
        StringBuilder b = new StringBuilder();
        RecordIdentifier id = rr0 instanceof AcidInputFormat.AcidRecordReader
            ? ((AcidInputFormat.AcidRecordReader<?, ?>) rr0).getRecordIdentifier() : null;
        b.append(id == null ? "NULL" : "{\"writeid\":" + id.getWriteId() + ",\"bucketid\":" + id.getBucketProperty() + ",\"rowid\":" + id.getRowId() + "}");
        Object row = serde.deserialize(v);
        for (StructField f : oi.getAllStructFieldRefs()) {
          Object x = oi.getStructFieldData(row, f);
          b.append('\t').append(json(x, f.getFieldObjectInspector()));
        }
        Main.OUT.println(b);
      }
      rr.close();
    }
  }

  /** JSON of a column's value; decimals as exact text and binaries as hex, both quoted. */
  static String json(Object value, ObjectInspector oi) {
    if (value != null && oi instanceof HiveDecimalObjectInspector) {
      return '"' + ((HiveDecimalObjectInspector) oi).getPrimitiveJavaObject(value).toString() + '"';
    }
    if (value != null && oi instanceof BinaryObjectInspector) {
      return '"' + HexFormat.of().formatHex(((BinaryObjectInspector) oi).getPrimitiveJavaObject(value)) + '"';
    }
    return SerDeUtils.getJSONString(value, oi);
  }
}
