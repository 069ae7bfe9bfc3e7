import { printValue } from '../../json/print.ts'
import type { FieldError } from '../../meta/status.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from './part.ts'

/**
 * Values in messages as kube-apiserver prints them: in the syntax of Go. Clients compare messages, so values that are short and
 * the same in every run are printed in this way; others are JSON.
 */
export function invalidGoValue(field: string, printed: string, detail?: string): FieldError {
  const message = detail === undefined ? `Invalid value: ${printed}` : `Invalid value: ${printed}: ${detail}`
  return { reason: 'FieldValueInvalid', field, message }
}

/** One of several kinds of value is expected, and this struct is of none. */
export function unsupportedGoValue(field: string, printed: string, supported: readonly string[]): FieldError {
  const list = supported.map(quoted).join(', ')
  return { reason: 'FieldValueNotSupported', field, message: `Unsupported value: ${printed}: supported values: ${list}` }
}

/** `apps.DeploymentStrategy{Type:"X", RollingUpdate:(*apps.RollingUpdateDeployment)(nil)}`; JSON where Go prints an address. */
export function goUpdateStrategy(type: string, rollingType: string, strategy: Part): string {
  if (optionalPart(strategy, 'rollingUpdate') !== undefined) return printValue(strategy)
  return `${type}{Type:${quoted(textOf(strategy, 'type'))}, RollingUpdate:(*${rollingType})(nil)}`
}

/** `map[string]string{"a":"b"}` */
export function goLabels(labels: Part): string {
  const entries = Object.entries(labels).sort(([left], [right]) => (left < right ? -1 : 1))
  if (entries.length === 0) return 'map[string]string(nil)'
  return `map[string]string{${entries.map(([key, value]) => `${quoted(key)}:${quoted(value)}`).join(', ')}}`
}

/** `v1.LabelSelector{MatchLabels:…, MatchExpressions:…}` */
export function goLabelSelector(selector: Part): string {
  const terms = itemsOf(selector, 'matchExpressions').map(
    (term) =>
      `v1.LabelSelectorRequirement{Key:${quoted(textOf(term, 'key'))}, Operator:${quoted(textOf(term, 'operator'))}, Values:${goTexts(itemsOf(term, 'values'))}}`,
  )
  const type = '[]v1.LabelSelectorRequirement'
  const expressions = terms.length === 0 ? `${type}(nil)` : `${type}{${terms.join(', ')}}`
  return `v1.LabelSelector{MatchLabels:${goLabels(partOf(selector, 'matchLabels'))}, MatchExpressions:${expressions}}`
}

/** `intstr.IntOrString{Type:0, IntVal:1, StrVal:""}` */
export function goIntOrString(value: unknown): string {
  const isText = typeof value === 'string'
  return `intstr.IntOrString{Type:${isText ? 1 : 0}, IntVal:${isText ? 0 : String(value ?? 0)}, StrVal:${quoted(isText ? value : '')}}`
}

/** `rbac.RoleRef{APIGroup:"", Kind:"", Name:""}`: a struct of texts, by the names that Go has for its fields. */
export function goStruct(type: string, part: Part, fields: Readonly<Record<string, string>>): string {
  const members = Object.entries(fields).map(([name, field]) => `${name}:${quoted(textOf(part, field))}`)
  return `${type}{${members.join(', ')}}`
}

function goTexts(texts: readonly unknown[]): string {
  return texts.length === 0 ? '[]string(nil)' : `[]string{${texts.map(quoted).join(', ')}}`
}

function quoted(text: unknown): string {
  return JSON.stringify(String(text))
}
