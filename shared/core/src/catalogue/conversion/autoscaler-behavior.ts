import { isJsonObject } from '../../json/member.ts'
import { itemsOf, optionalPart, type Part } from '../../validation/part.ts'

/**
 * The behavior of a HorizontalPodAutoscaler in the annotation of the first version: kube-apiserver prints the names of its own
 * types, with null for absent members, and reads names in any case.
 */
export function printBehavior(behavior: Part): Part {
  return { ScaleUp: rulesOf(optionalPart(behavior, 'scaleUp')), ScaleDown: rulesOf(optionalPart(behavior, 'scaleDown')) }
}

function rulesOf(rules: Part | undefined): Part | null {
  if (rules === undefined) return null
  return {
    StabilizationWindowSeconds: rules['stabilizationWindowSeconds'] ?? null,
    SelectPolicy: rules['selectPolicy'] ?? null,
    Policies: itemsOf(rules, 'policies').map(({ type, value, periodSeconds }) => ({
      Type: type,
      Value: value,
      PeriodSeconds: periodSeconds,
    })),
  }
}

/** The behavior of an annotation, with the names of the newer version; undefined for none. */
export function readBehavior(value: unknown): Part | undefined {
  const read = withFieldNames(value)
  return isJsonObject(read) && Object.keys(read).length > 0 ? read : undefined
}

const fieldNames = new Map(
  ['scaleUp', 'scaleDown', 'stabilizationWindowSeconds', 'selectPolicy', 'policies', 'type', 'value', 'periodSeconds'].map((name) => [
    name.toLowerCase(),
    name,
  ]),
)

function withFieldNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withFieldNames)
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).flatMap(([name, member]) => {
    const field = fieldNames.get(name.toLowerCase())
    return field === undefined || member === null ? [] : [[field, withFieldNames(member)] as const]
  })
  return Object.fromEntries(members)
}
