package hivesql;

import java.util.Locale;
import org.apache.spark.sql.connector.catalog.MetadataColumn;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.DeltaWrite;
import org.apache.spark.sql.connector.write.DeltaWriteBuilder;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.RowLevelOperation;
import org.apache.spark.sql.connector.write.SupportsDelta;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * An UPDATE, DELETE or MERGE of Spark's, which finds rows of a full ACID table by what tells them apart.
 *
 * <p>CatalogStrategy has them written.
 */
final class CatalogChange implements SupportsDelta, DeltaWriteBuilder, DeltaWrite {
    /** Where a row is: its id, and the texts of its partition's values, as the catalog has them. */
    static final MetadataColumn[] PLACES = {
        new Place("row__id", new StructType()
                .add("writeid", DataTypes.LongType, false)
                .add("bucketid", DataTypes.IntegerType, false)
                .add("rowid", DataTypes.LongType, false)),
        new Place("row__partition", new ArrayType(DataTypes.StringType, false)),
    };

    final CatalogTable table;
    final String command;
    private final Command operation;

    CatalogChange(CatalogTable table, Command operation) {
        this.table = table;
        this.operation = operation;
        this.command = operation.name().toLowerCase(Locale.ROOT);
    }

    static boolean isPlace(String column) {
        return typeOf(column) != null;
    }

    static DataType typeOf(String column) {
        for (MetadataColumn place : PLACES) {
            if (place.name().equals(column)) return place.dataType();
        }
        return null;
    }

    @Override
    public Command command() {
        return operation;
    }

    @Override
    public String description() {
        return command + " " + table.name();
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
        return table.newScanBuilder(options);
    }

    @Override
    public NamedReference[] rowId() {
        return new NamedReference[] {
            Expressions.column(PLACES[0].name()), Expressions.column(PLACES[1].name())
        };
    }

    @Override
    public DeltaWriteBuilder newWriteBuilder(LogicalWriteInfo info) {
        return this;
    }

    @Override
    public DeltaWrite build() {
        return this;
    }
}

/** A column of a place, which every row has. */
final class Place implements MetadataColumn {
    private final String name;
    private final DataType type;

    Place(String name, DataType type) {
        this.name = name;
        this.type = type;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public DataType dataType() {
        return type;
    }

    @Override
    public boolean isNullable() {
        return false;
    }
}
