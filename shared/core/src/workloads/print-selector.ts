import type { BuiltIn } from '../schema/built-in.ts'

/** A selector in the format of a printed Go pointer. */
export function printSelector(selector: BuiltIn<'meta/v1.LabelSelector'> | null | undefined): string {
  if (selector == null) return 'nil'
  const labels = Object.entries(selector.matchLabels ?? {}).sort(([left], [right]) => (left < right ? -1 : 1))
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values }) => `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${(values ?? []).join(' ')}],},`,
  )
  const printedLabels = labels.map(([name, value]) => `${name}: ${value},`).join('')
  return `&LabelSelector{MatchLabels:map[string]string{${printedLabels}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`
}
