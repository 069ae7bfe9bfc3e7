import { memo } from '@orch/cel/memo'
import { map, quantity, ref } from '../../description/values.ts'
import { checkLabel, checkSubdomain, type FieldError, joinTexts, parseQuantity, quantitySign, roundUpQuantity } from '../../meta/index.ts'
import { domainLabel, type Names, subdomainLabel } from '../../names.ts'
import { goValue } from '../../schema/go-value.ts'
import { forbiddenValue, immutableValue, invalidFor, invalidValue, requiredValue, unsupportedValue } from '../../validation/field-errors.ts'
import { differenceOf } from '../../validation/object-difference.ts'
import { isSame, itemsOf, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import { liveAt, type RuleContext, type TypeRules } from '../../validation/rule-book.ts'
import { isGiven, requireChecked } from './checks.ts'
import { validateModes } from './claim-spec.ts'
import { persistentSources, sourceChoice } from './pod/volume-sources.ts'

/** A PersistentVolume. Its source is immutable. */
export const persistentVolumeRules: Readonly<Record<string, TypeRules>> = {
  'core/v1.PersistentVolumeSpec': [
    ...['accessModes', validateModes],
    validateCapacity,
    ...['persistentVolumeReclaimPolicy', 'nodeAffinity'],
    sourceChoice(persistentSources),
    validatePlace,
    validateSecrets,
    ...['storageClassName', 'volumeMode'],
    validateAttributes,
    validateChange,
    { passedOver: ['volumeAttributesClassName'] },
  ],
}

const notInline = 'may not be specified in the context of inline volumes'

/** Validates a volume inside a VolumeAttachment: only a CSI volume, without the other fields of a PersistentVolume. */
export function validateInlineVolume(spec: Part, at: string, context: RuleContext): FieldError[] {
  const errors: FieldError[] = []
  const refuse = (...fields: readonly string[]): void => {
    for (const field of fields) if (isGiven(spec, field)) errors.push(forbiddenValue(`${at}.${field}`, notInline))
  }
  refuse('claimRef')
  if (Object.keys(partOf(spec, 'capacity')).length > 0) refuse('capacity')
  if (!isGiven(spec, 'csi')) errors.push(requiredValue(`${at}.csi`, 'has to be specified in the context of inline volumes'))
  if (itemsOf(spec, 'accessModes').length === 0) errors.push(requiredValue(`${at}.accessModes`))
  validateModes(errors, spec, at, context)
  const policy = textOf(spec, 'persistentVolumeReclaimPolicy')
  if (policy !== '' && policy !== 'Retain') {
    errors.push(forbiddenValue(`${at}.persistentVolumeReclaimPolicy`, 'may only be Retain in the context of inline volumes'))
  }
  refuse('nodeAffinity')
  context.rules.of('core/v1.PersistentVolumeSource')(errors, spec, at, context)
  validatePlace(errors, spec, at)
  validateDriverSecrets(errors, optionalPart(spec, 'csi'), `${at}.csi`, { level: context.level })
  if (textOf(spec, 'storageClassName') !== '') refuse('storageClassName')
  const mode = spec['volumeMode']
  if (isGiven(spec, 'volumeMode') && mode !== 'Filesystem') {
    errors.push(forbiddenValue(`${at}.volumeMode`, 'may not specify volumeMode other than Filesystem in the context of inline volumes'))
  }
  return errors
}

function validateCapacity(errors: FieldError[], spec: Part, _at: string, { body }: RuleContext): void {
  const capacity = partOf(spec, 'capacity')
  const { capacity: given } = partOf(partOf({ body }, 'body'), 'spec')
  const names = Object.keys(capacity)
  if (names.length === 0) errors.push(requiredValue('spec.capacity'))
  if (names.length !== 1 || names[0] !== 'storage')
    errors.push(unsupportedValue('spec.capacity', goValue(map(quantity()), spec['capacity'] ?? given ?? null), ['storage']))
  for (const name of names) {
    errors.push(...validateAmount(capacity[name], `spec.capacity[${name}]`))
    const quantity = parseQuantity(String(capacity[name]))
    if (quantity === undefined || quantitySign(quantity) > 0) continue
    errors.push(invalidValue(`spec.capacity[${name}]`, capacity[name], 'must be greater than zero'))
  }
}

/** Validates an amount of a resource, which must not be negative. */
export function validateAmount(amount: unknown, field: string): FieldError[] {
  const quantity = parseQuantity(String(amount))
  if (quantity === undefined || quantitySign(quantity) >= 0) return []
  return [invalidValue(field, roundUpQuantity(quantity), 'must be a valid resource quantity')]
}

/** Validates policies that some kinds of volumes restrict. */
function validatePlace(errors: FieldError[], spec: Part, at: string): void {
  const isRoot = /^\/(?:\.?\/)*\.?$/.test(textOf(optionalPart(spec, 'hostPath'), 'path'))
  if (isRoot && textOf(spec, 'persistentVolumeReclaimPolicy') === 'Recycle') {
    errors.push(forbiddenValue(`${at}.persistentVolumeReclaimPolicy`, "may not be 'recycle' for a hostPath mount of '/'"))
  }
}

const driverSecrets = ['controllerPublishSecretRef', 'controllerExpandSecretRef', 'nodePublishSecretRef', 'nodeExpandSecretRef']

function validateSecrets(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
  const before = optionalPart(liveAt(context, at), 'csi')
  validateDriverSecrets(errors, optionalPart(spec, 'csi'), `${at}.csi`, { before, level: context.level })
}

/** The first level at which kube-apiserver is known to accept any name of a secret. */
const anySecretSince = 34

/** Names of secrets once had to be labels; a stored volume with a longer name may keep it. */
function validateDriverSecrets(
  errors: FieldError[],
  source: Part | undefined,
  at: string,
  { before, level }: { readonly before?: Part | undefined; readonly level: number },
): void {
  const namesBefore = [...driverSecrets, 'nodeStageSecretRef'].map((field) => textOf(optionalPart(before, field), 'name'))
  const isTolerant = level >= anySecretSince || namesBefore.some((name) => name !== '' && checkLabel(name).length > 0)
  for (const field of driverSecrets) {
    const secret = optionalPart(source, field)
    if (secret === undefined) continue
    requireChecked(errors, { part: secret, name: 'name', at: `${at}.${field}` }, isTolerant ? checkSubdomain : checkLabel)
    requireChecked(errors, { part: secret, name: 'namespace', at: `${at}.${field}` }, checkLabel)
  }
}

function validateChange(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
  if (context.live === undefined) return
  const before = liveAt(context, at)
  const [source, kept] = [sourceOf(spec, before), sourceOf(before, before)]
  if (!isSame(source, kept)) {
    const difference = differenceOf(ref('core/v1.PersistentVolumeSource'), kept, source)
    errors.push(
      forbiddenValue('spec.persistentvolumesource', joinTexts(['spec.persistentvolumesource is immutable after creation', difference])),
    )
  }
  errors.push(...immutableValue('volumeMode', spec['volumeMode'], before['volumeMode']))
  if (isGiven(before, 'nodeAffinity')) errors.push(...validateAffinityChange(spec['nodeAffinity'], before['nodeAffinity'], context))
  const name = 'volumeAttributesClassName'
  if (context.isGateOn('VolumeAttributesClass') && isGiven(before, name) && !isGiven(spec, name)) {
    errors.push(forbiddenValue(`${at}.${name}`, 'update from non-nil value to nil is forbidden'))
  }
}

/** The first level at which a node label may be replaced by the newer one. */
const labelsRenamedSince = 27

function validateAffinityChange(affinity: unknown, before: unknown, { names, level }: RuleContext): FieldError[] {
  const mayRename = level >= labelsRenamedSince
  const isKept = mayRename ? isSame(withNewerLabels(affinity, names), withNewerLabels(before, names)) : isSame(affinity, before)
  if (isKept) return []
  const value = affinity == null ? undefined : goValue(ref('core/v1.VolumeNodeAffinity'), affinity)
  return [invalidValue('nodeAffinity', value, `field is immutable${mayRename ? ', except for updating from beta label to GA' : ''}`)]
}

/** Node labels → the labels that replace them. */
const newerNodeLabels: (names: Names) => Readonly<Record<string, string>> = memo((names: Names) => ({
  [subdomainLabel(names, 'failure-domain.beta', 'region')]: subdomainLabel(names, 'topology', 'region'),
  [subdomainLabel(names, 'failure-domain.beta', 'zone')]: subdomainLabel(names, 'topology', 'zone'),
  [subdomainLabel(names, 'beta', 'os')]: domainLabel(names, 'os'),
  [subdomainLabel(names, 'beta', 'arch')]: domainLabel(names, 'arch'),
  [subdomainLabel(names, 'beta', 'instance-type')]: subdomainLabel(names, 'node', 'instance-type'),
}))

function withNewerLabels(affinity: unknown, names: Names): unknown {
  const newer = newerNodeLabels(names)
  const terms = itemsOf(partOf(partOf({ affinity }, 'affinity'), 'required'), 'nodeSelectorTerms')
  return terms.map((term) => ({
    ...term,
    matchExpressions: itemsOf(term, 'matchExpressions').map((one) => ({ ...one, key: newer[textOf(one, 'key')] ?? textOf(one, 'key') })),
  }))
}

function validateAttributes(errors: FieldError[], spec: Part, at: string, { isGateOn }: RuleContext): void {
  const name = 'volumeAttributesClassName'
  if (!isGateOn('VolumeAttributesClass') || !isGiven(spec, name)) return
  const given = textOf(spec, name)
  if (given === '') errors.push(requiredValue(`${at}.${name}`, 'an empty string is disallowed'))
  else errors.push(...invalidFor(`${at}.${name}`, given, checkSubdomain(given)))
  if (!isGiven(spec, 'csi')) errors.push(requiredValue(`${at}.csi`, 'has to be specified when using volumeAttributesClassName'))
}

/** The source of a volume, in which the secret for expansion may be added later. */
function sourceOf(spec: Part, before: Part): Part {
  const source = Object.fromEntries(persistentSources.flatMap((name) => (isGiven(spec, name) ? [[name, spec[name]]] : [])))
  const driver = optionalPart(source, 'csi')
  const maySetSecret = driver !== undefined && isGiven(before, 'csi') && !isGiven(optionalPart(before, 'csi'), 'controllerExpandSecretRef')
  if (!maySetSecret) return source
  const { controllerExpandSecretRef: _secret, ...rest } = driver
  return { ...source, csi: rest }
}
