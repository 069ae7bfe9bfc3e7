import { compareQuantities, parseQuantity } from '../../meta/quantity.ts'
import type { FieldError } from '../../meta/status.ts'
import { type Names, subdomainLabel } from '../../names.ts'
import { isGiven } from './checks.ts'
import { validateClaimSpec } from './claim-spec.ts'
import { forbiddenValue, immutableValue, invalidValue } from './field-errors.ts'
import { isSame, type Part, partOf, textOf } from './part.ts'
import { validateAmount } from './persistent-volume.ts'

/** The rules of a PersistentVolumeClaim. Quotas count what it asks for, so little of it may change. */
export function validateClaim(claim: Part, live: Part | undefined, names: Names): FieldError[] {
  const spec = partOf(claim, 'spec')
  const errors = validateClaimSpec(spec, 'spec')
  return live === undefined ? errors : [...errors, ...validateChange(claim, live, names)]
}

/** The rules of a PersistentVolumeClaim's status. */
export function validateClaimStatus(claim: Part): FieldError[] {
  const capacity = partOf(partOf(claim, 'status'), 'capacity')
  return Object.entries(capacity).flatMap(([name, amount]) => validateAmount(amount, `status.capacity[${name}]`))
}

function validateChange(claim: Part, live: Part, names: Names): FieldError[] {
  const [spec, before] = [partOf(claim, 'spec'), partOf(live, 'spec')]
  const className = subdomainLabel(names, 'volume.beta', 'storage-class')
  const isMoved = movesClassToField(claim, live, className)
  const [annotation, annotationBefore] = [annotationOf(claim, className), annotationOf(live, className)]
  const errors =
    isMoved || annotation === annotationBefore
      ? []
      : [invalidValue(`metadata.annotations.${className}`, annotation ?? '', 'field is immutable')]
  const isBound = textOf(partOf(live, 'status'), 'phase') === 'Bound'
  const changed = {
    ...spec,
    // Which volume it gets is found out once, and a bound claim may grow.
    volumeName: textOf(before, 'volumeName') === '' ? textOf(before, 'volumeName') : textOf(spec, 'volumeName'),
    storageClassName: isMoved ? undefined : spec['storageClassName'],
    resources: isBound ? withSizeOf(spec, before) : spec['resources'],
  }
  if (!isSame(changed, { ...before, volumeName: textOf(before, 'volumeName') })) {
    errors.push(forbiddenValue('spec', 'spec is immutable after creation except resources.requests for bound claims'))
  }
  if (isSmaller(sizeOf(spec), sizeOf(before))) {
    errors.push(forbiddenValue('spec.resources.requests.storage', 'field can not be less than previous value'))
  }
  return [...errors, ...immutableValue('volumeMode', spec['volumeMode'], before['volumeMode'])]
}

/** The class that a claim names in the annotation of old may be named by the field from then on. */
function movesClassToField(claim: Part, live: Part, className: string): boolean {
  const [before, after] = [annotationOf(live, className), annotationOf(claim, className)]
  if (before === undefined || isGiven(partOf(live, 'spec'), 'storageClassName')) return false
  return partOf(claim, 'spec')['storageClassName'] === before && (after === undefined || after === before)
}

function annotationOf(claim: Part, name: string): string | undefined {
  const value = partOf(partOf(claim, 'metadata'), 'annotations')[name]
  return typeof value === 'string' ? value : undefined
}

function sizeOf(spec: Part): unknown {
  return partOf(partOf(spec, 'resources'), 'requests')['storage']
}

function withSizeOf(spec: Part, before: Part): Part {
  const resources = partOf(spec, 'resources')
  return { ...resources, requests: { ...partOf(resources, 'requests'), storage: sizeOf(before) } }
}

function isSmaller(size: unknown, than: unknown): boolean {
  const [after, before] = [parseQuantity(String(size)), parseQuantity(String(than))]
  return after !== undefined && before !== undefined && compareQuantities(after, before) < 0
}
