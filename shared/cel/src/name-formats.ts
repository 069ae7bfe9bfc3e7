/** Name formats that objects share with the CEL library `format`: lengths, patterns and messages of upstream's `validation` package. */

/** Longest label, in characters. */
export const labelLengthMax = 63
/** Longest subdomain, in characters. */
export const subdomainLengthMax = 253

export const labelPattern = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/
export const label1035Pattern = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/
export const subdomainPattern = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/
export const qualifiedPattern = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/

const labelFormat = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const qualifiedFormat = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'

export const wrongLabel = explain(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  ['my-name', '123-abc'],
  labelFormat,
)
export const wrongLabel1035 = explain(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  ['my-name', 'abc-123'],
  '[a-z]([-a-z0-9]*[a-z0-9])?',
)
export const wrongSubdomain = explain(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  ['example.com'],
  `${labelFormat}(\\.${labelFormat})*`,
)
export const wrongQualifiedPart = explain(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  ['MyName', 'my.name', '123-abc'],
  qualifiedFormat,
)
export const wrongLabelValue = explain(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  ['MyValue', 'my_value', '12345'],
  `(${qualifiedFormat})?`,
)
export const wrongQualifiedName = `${wrongQualifiedPart} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`

/** The rule, examples and the pattern in one text. */
export function explain(rule: string, examples: readonly string[], format: string): string {
  const list = examples.map((example) => `'${example}', `).join(' or ')
  return `${rule} (e.g. ${list}regex used for validation is '${format}')`
}
