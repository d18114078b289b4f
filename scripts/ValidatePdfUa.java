import java.io.File;
import java.util.Map;
import java.util.TreeMap;

import org.verapdf.gf.foundry.VeraGreenfieldFoundryProvider;
import org.verapdf.pdfa.Foundries;
import org.verapdf.pdfa.PDFAParser;
import org.verapdf.pdfa.PDFAValidator;
import org.verapdf.pdfa.flavours.PDFAFlavour;
import org.verapdf.pdfa.results.TestAssertion;
import org.verapdf.pdfa.results.ValidationResult;

/** Checks files as PDF/UA-1 and prints the rules that they break. Usage: java ValidatePdfUa.java FILE.pdf ... */
public class ValidatePdfUa {
    public static void main(String[] files) throws Exception {
        VeraGreenfieldFoundryProvider.initialise();
        int compliant = 0;
        for (String file : files) {
            Map<String, String> broken = brokenRules(new File(file));
            if (broken.isEmpty()) {
                compliant += 1;
            }
            broken.forEach((rule, message) -> System.out.println(file + ": " + rule + " " + message));
        }
        System.out.println(compliant + " of " + files.length + " files conform to PDF/UA-1");
        System.exit(compliant == files.length && files.length > 0 ? 0 : 1);
    }

    private static Map<String, String> brokenRules(File file) throws Exception {
        Map<String, String> broken = new TreeMap<>();
        try (PDFAParser parser = Foundries.defaultInstance().createParser(file, PDFAFlavour.PDFUA_1);
                PDFAValidator validator = Foundries.defaultInstance().createValidator(PDFAFlavour.PDFUA_1, false)) {
            ValidationResult result = validator.validate(parser);
            for (TestAssertion assertion : result.getTestAssertions()) {
                if (assertion.getStatus() == TestAssertion.Status.FAILED) {
                    String rule = assertion.getRuleId().getClause() + "-" + assertion.getRuleId().getTestNumber();
                    broken.putIfAbsent(rule, assertion.getMessage() + " at " + assertion.getLocation().getContext());
                }
            }
            if (broken.isEmpty() && !result.isCompliant()) {
                broken.put("unknown", "the file does not conform");
            }
        }
        return broken;
    }
}
