package hivesql;

/** Bytes of a file; this Hadoop asks for one range after the other. */
final class StoreInput extends NearBytes {
    StoreInput(Pieces pieces) {
        super(pieces);
    }
}
