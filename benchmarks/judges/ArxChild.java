import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.deidentifier.arx.AttributeType;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.risk.RiskEstimateBuilder;
import org.deidentifier.arx.risk.RiskModelSampleSummary.ProsecutorRisk;

/**
 * ARX's risks of a file; run by Java with ARX's jar on the class path: ArxChild.java PATH THRESHOLD QUASI_IDENTIFIER...
 *
 * Printed as JSON: the classes, and of a prosecutor the highest and the average risk and the share of records above the
 * threshold.
 */
class ArxChild {
    public static void main(String[] words) throws Exception {
        Data table = Data.create(words[0], StandardCharsets.UTF_8, ',');
        double threshold = Double.parseDouble(words[1]);
        for (int i = 2; i < words.length; i++) {
            table.getDefinition().setAttributeType(words[i], AttributeType.QUASI_IDENTIFYING_ATTRIBUTE);
        }
        RiskEstimateBuilder risks = table.getHandle().getRiskEstimator();
        ProsecutorRisk found = risks.getSampleBasedRiskSummary(threshold).getProsecutorRisk();
        System.out.printf(
            Locale.ROOT,
            "{\"classes\": %.0f, \"highest\": %.9f, \"average\": %.9f, \"above\": %.9f}%n",
            risks.getEquivalenceClassModel().getNumClasses(),
            found.getHighestRisk(),
            found.getSuccessRate(),
            found.getRecordsAtRisk()
        );
    }
}
