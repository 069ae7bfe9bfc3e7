/** What a gateway writes down about requests. */
export const auditSettings = {}
