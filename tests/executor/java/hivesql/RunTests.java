package hivesql;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;

/** Runs the tests of some classes: their static methods without parameters. A line each, then why. */
public final class RunTests {
    private RunTests() {}

    public static void main(String[] names) throws Exception {
        for (String name : names) {
            for (Method test : Class.forName("hivesql." + name).getDeclaredMethods()) {
                boolean isTest = Modifier.isStatic(test.getModifiers()) && !test.isSynthetic()
                        && !Modifier.isPrivate(test.getModifiers()) && test.getParameterCount() == 0;
                if (isTest) run(name, test);
            }
        }
    }

    private static void run(String name, Method test) throws IllegalAccessException {
        try {
            test.invoke(null);
            System.out.println("passed " + name + "." + test.getName());
        } catch (InvocationTargetException error) {
            System.out.println("failed " + name + "." + test.getName());
            error.getCause().printStackTrace(System.out);
        }
    }

    /** Raise unless they are equal. */
    static void same(Object found, Object expected) {
        if (!expected.equals(found)) {
            throw new AssertionError("found " + found + ", expected " + expected);
        }
    }
}
