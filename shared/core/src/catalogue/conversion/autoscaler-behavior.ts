import { isJsonObject } from '../../json/member.ts'
import { itemsOf, optionalPart, type Part } from '../../validation/part.ts'

/**
 * Writes the behavior of a HorizontalPodAutoscaler into the annotation of v1. kube-apiserver prints the names of its internal
 * types there, with null for absent members, and reads names case-insensitively.
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

/** Reads the behavior in an annotation, with the field names of the newer version; undefined if absent. */
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
