import { ref } from '../../description/values.ts'
import type { IsGateOn } from '../../feature-gates.ts'
import { compareQuantities, type FieldError, joinTexts, parseQuantity } from '../../meta/index.ts'
import { type Names, subdomainLabel } from '../../names.ts'
import { forbiddenValue, immutableValue, invalidValue, unsupportedValue } from '../../validation/field-errors.ts'
import { differenceOf } from '../../validation/object-difference.ts'
import { isSame, type Part, partOf, textOf } from '../../validation/part.ts'
import type { RuleContext } from '../../validation/rule-book.ts'
import { allowOneOf, isGiven } from './checks.ts'
import { validateAmount } from './persistent-volume.ts'

/** The rules of a PersistentVolumeClaim. Its spec is almost immutable, because quotas count its request. */
export function validateClaim(claim: Part, live: Part | undefined, names: Names, context: RuleContext): FieldError[] {
  const spec = partOf(claim, 'spec')
  const errors: FieldError[] = []
  context.rules.of('core/v1.PersistentVolumeClaimSpec')(errors, spec, 'spec', context)
  return live === undefined ? errors : [...errors, ...validateChange(claim, live, names, context)]
}

/** The rules of a PersistentVolumeClaim's status. */
export function validateClaimStatus(claim: Part, _live: Part | undefined, names: Names, { isGateOn, level }: RuleContext): FieldError[] {
  const status = partOf(claim, 'status')
  const errors: FieldError[] = Object.entries(partOf(status, 'capacity')).flatMap(([name, amount]) =>
    validateAmount(amount, `status.capacity[${name}]`),
  )
  return isGateOn('RecoverVolumeExpansionFailure') ? [...errors, ...validateExpansion(status, names, level)] : errors
}

function validateExpansion(status: Part, names: Names, level: number): FieldError[] {
  const errors: FieldError[] = []
  allowOneOf(errors, { part: status, name: 'resizeStatus', at: 'status' }, resizeStates)
  const statuses = level < 34 ? 'status.allocatedResourceStatus' : 'status.allocatedResourceStatuses'
  for (const [name, state] of Object.entries(partOf(status, 'allocatedResourceStatuses'))) {
    if (!isClaimResource(name, names)) errors.push(unsupportedValue(statuses, name, ['storage']))
    if (!claimStates.includes(String(state))) errors.push(unsupportedValue(statuses, name, claimStates))
  }
  const path = 'status.allocatedResources'
  for (const [name, amount] of Object.entries(partOf(status, 'allocatedResources'))) {
    if (isClaimResource(name, names)) errors.push(...validateAmount(amount, `${path}[${name}]`))
    else errors.push(unsupportedValue(path, name, ['storage']))
  }
  return errors
}

/** True for storage, or for a resource of another domain. */
function isClaimResource(name: string, { labelDomain }: Names): boolean {
  return name === 'storage' || (name.includes('/') && !name.includes(`${labelDomain}/`))
}

/** The states of a resize in the order of messages. */
const claimStates = [
  ...['ControllerResizeInProgress', 'ControllerResizeInfeasible'],
  ...['NodeResizeInProgress', 'NodeResizeInfeasible', 'NodeResizePending'],
]

const resizeStates = [
  ...['', 'ControllerExpansionFailed', 'ControllerExpansionInProgress'],
  ...['NodeExpansionFailed', 'NodeExpansionInProgress', 'NodeExpansionPending'],
]

function validateChange(claim: Part, live: Part, names: Names, { isGateOn, level }: RuleContext): FieldError[] {
  const [spec, before] = [partOf(claim, 'spec'), partOf(live, 'spec')]
  const className = subdomainLabel(names, 'volume.beta', 'storage-class')
  const isMoved = movesClassToField(claim, live, className)
  const [annotation, annotationBefore] = [annotationOf(claim, className), annotationOf(live, className)]
  const errors: FieldError[] =
    isMoved || annotation === annotationBefore
      ? []
      : [invalidValue(`metadata.annotations.${className}`, annotation ?? '', 'field is immutable')]
  const isGivenLate = isGateOn('RetroactiveDefaultStorageClass') && getsClass(claim, live, className)
  const isBound = textOf(partOf(live, 'status'), 'phase') === 'Bound'
  const changed = {
    ...spec,
    // The volume name can be set once, and the request of a bound claim may grow.
    volumeName: textOf(before, 'volumeName') === '' ? textOf(before, 'volumeName') : textOf(spec, 'volumeName'),
    storageClassName: isMoved || isGivenLate ? before['storageClassName'] : spec['storageClassName'],
    resources: isBound ? withSizeOf(spec, before) : spec['resources'],
    volumeAttributesClassName: isBound ? before['volumeAttributesClassName'] : spec['volumeAttributesClassName'],
  }
  const kept = { ...before, volumeName: textOf(before, 'volumeName') }
  if (!isSame(changed, kept)) {
    const what = level < attributesNamedSince ? 'resources.requests' : 'resources.requests and volumeAttributesClassName'
    const difference = differenceOf(ref('core/v1.PersistentVolumeClaimSpec'), kept, changed)
    errors.push(forbiddenValue('spec', joinTexts([`spec is immutable after creation except ${what} for bound claims`, difference])))
  }
  errors.push(...validateShrinking(claim, live, isGateOn))
  errors.push(...immutableValue('volumeMode', spec['volumeMode'], before['volumeMode']))
  return isGateOn('VolumeAttributesClass') ? [...errors, ...validateAttributesChange(spec, live)] : errors
}

/** The first level whose message about a change names the attributes. */
const attributesNamedSince = 31

/** A claim's volume attributes class may be changed but not removed. */
function validateAttributesChange(spec: Part, live: Part): FieldError[] {
  const name = 'volumeAttributesClassName'
  if (isSame(spec[name], partOf(live, 'spec')[name]) || !isGiven(partOf(live, 'status'), 'currentVolumeAttributesClassName')) return []
  if (textOf(spec, name) !== '') return []
  const what = isGiven(spec, name) ? 'empty string' : 'nil'
  return [forbiddenValue(`spec.${name}`, `update to ${what} is forbidden when status.currentVolumeAttributesClassName is not nil`)]
}

const requestField = 'spec.resources.requests.storage'

/** A request may be reduced, if the feature is on, but not below the volume's capacity. */
function validateShrinking(claim: Part, live: Part, isGateOn: IsGateOn): FieldError[] {
  const size = sizeOf(partOf(claim, 'spec')) ?? '0'
  if (!isSmaller(size, sizeOf(partOf(live, 'spec')))) return []
  if (!isGateOn('RecoverVolumeExpansionFailure')) return [forbiddenValue(requestField, 'field can not be less than previous value')]
  const has = partOf(partOf(live, 'status'), 'capacity')['storage'] ?? '0'
  return isSmaller(has, size) ? [] : [forbiddenValue(requestField, 'field can not be less than status.capacity')]
}

/** True if an update sets the class of a claim that has none; it must equal the annotation if that is present. */
function getsClass(claim: Part, live: Part, className: string): boolean {
  const before = annotationOf(live, className)
  const given = partOf(claim, 'spec')['storageClassName']
  return (
    isGiven(partOf(claim, 'spec'), 'storageClassName') &&
    !isGiven(partOf(live, 'spec'), 'storageClassName') &&
    (before === undefined || given === before)
  )
}

/** True if an update moves the class of a claim from the deprecated annotation to the field. */
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
