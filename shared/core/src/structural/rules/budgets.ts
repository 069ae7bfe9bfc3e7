/** The bound of one evaluation's cost of one rule. */
export const ruleCostMax = 1_000_000
/** The bound of all rules' cost for an object, with their messages. */
export const objectCostMax = 10_000_000
/** The bound of one rule's estimated cost, at all places where it can be evaluated. */
export const estimatedRuleCostMax = 10_000_000n
/** The bound of the estimated cost of all rules of a version. */
export const estimatedTotalCostMax = 100_000_000n
/** The longest text that a message expression may give. */
export const messageBytesMax = 5_120
