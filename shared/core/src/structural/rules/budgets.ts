/** What one evaluation of one rule may cost. */
export const ruleCostMax = 1_000_000
/** What all rules of an object may cost together, with their messages. */
export const objectCostMax = 10_000_000
/** What one rule may cost by its estimate, at all places where it can be evaluated. */
export const estimatedRuleCostMax = 10_000_000n
/** What all rules of a version may cost by their estimates. */
export const estimatedTotalCostMax = 100_000_000n
/** The longest text that a message expression may give. */
export const messageBytesMax = 5_120
