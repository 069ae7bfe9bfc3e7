/** Maximum cost of one evaluation of one rule. */
export const ruleCostMax = 1_000_000
/** Maximum total cost of all rules and their messages for an object. */
export const objectCostMax = 10_000_000
/** Maximum estimated cost of one rule over all places where it is evaluated. */
export const estimatedRuleCostMax = 10_000_000n
/** Maximum total estimated cost of all rules in a version. */
export const estimatedTotalCostMax = 100_000_000n
/** Maximum length of a message expression's result. */
export const messageBytesMax = 5_120
