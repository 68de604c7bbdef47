package hivesql;

import static hivesql.RunTests.same;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import org.apache.spark.unsafe.types.UTF8String;

final class UploadPlacesTest {
    private static final String PLAN = """
            {"table": "s3a://b/t", "partition": [{"name": "v", "value": null}], "locations": {},
            "directories": ["delta_1_1"]}""";

    private UploadPlacesTest() {}

    /** What the driver calls the directory of each value: both must name one place. */
    static void valuesAreEscapedAsTheDriverDoes() throws IOException {
        UploadPlaces places = new UploadPlaces(new ObjectMapper().readTree(PLAN));
        String[][] cases = {
            {"a\0b", "a%00b"}, {"", "__HIVE_DEFAULT_PARTITION__"}, {"q/r", "q%2Fr"}, {"%00", "%2500"},
            {"\1", "%01"}, {"\37", "%1F"}, {"\177", "%7F"}, {"a b", "a b"}, {"\u00fc", "\u00fc"},
        };
        for (String[] one : cases) {
            String found = places.directory(0, new UTF8String[] {UTF8String.fromString(one[0])});
            same(found, "s3a://b/t/v=" + one[1] + "/delta_1_1");
        }
    }
}
