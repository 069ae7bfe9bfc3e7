import { map, quantity } from '../../description/define.ts'
import { parseQuantity, quantitySign, roundUpQuantity } from '../../meta/quantity.ts'
import type { FieldError } from '../../meta/status.ts'
import { checkLabel, checkSubdomain } from '../../meta/validate-names.ts'
import { goValue } from '../../schema/go-value.ts'
import { forbiddenValue, immutableValue, invalidValue, requiredValue, unsupportedValue } from '../../validation/field-errors.ts'
import { isSame, itemsOf, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import { validateNodeSelector } from '../../validation/selector.ts'
import { validateAccessModes } from './access-modes.ts'
import { allowChecked, allowOneOf, isGiven, type PartRule, requireChecked, requireText } from './checks.ts'
import { validateDriverName } from './csi-node.ts'
import { refuseBacksteps } from './pod/paths.ts'
import { validateStorageOsVolume, volumeSourceRules } from './pod/volume-sources.ts'

const reclaimPolicies = ['Delete', 'Recycle', 'Retain']

/** Sources that Pods have under the same name and with the same rules. */
const sharedSources = [
  ...['hostPath', 'gcePersistentDisk', 'awsElasticBlockStore', 'flocker', 'nfs', 'rbd', 'quobyte', 'cephfs'],
  ...['fc', 'flexVolume', 'vsphereVolume', 'photonPersistentDisk', 'portworxVolume', 'azureDisk', 'scaleIO'],
]

/** What a PersistentVolume can be. */
const sourceRules: ReadonlyMap<string, PartRule> = new Map<string, PartRule>([
  ...sharedSources.flatMap((name): [string, PartRule][] => {
    const rule = volumeSourceRules.get(name)
    return rule === undefined ? [] : [[name, rule]]
  }),
  ['glusterfs', validateGlusterfs],
  ['iscsi', validateIscsi],
  ['cinder', validateCinder],
  ['azureFile', validateAzureFile],
  ['local', validateLocal],
  ['storageos', validateStorageOs],
  ['csi', validateCsi],
])

/** The rules of a PersistentVolume. What it is made of never changes. */
export function validatePersistentVolume(volume: Part, live: Part | undefined): FieldError[] {
  const spec = partOf(volume, 'spec')
  const errors: FieldError[] = []
  requireAccessModes(errors, spec, 'spec')
  validateCapacity(errors, partOf(spec, 'capacity'))
  allowOneOf(errors, { part: spec, name: 'persistentVolumeReclaimPolicy', at: 'spec' }, reclaimPolicies)
  validateNodeAffinity(errors, optionalPart(spec, 'nodeAffinity'))
  validateSource(errors, spec, 'spec')
  validateDriverSecrets(errors, optionalPart(spec, 'csi'), 'spec.csi', optionalPart(partOf(live, 'spec'), 'csi'))
  allowChecked(errors, { part: spec, name: 'storageClassName', at: 'spec' }, checkSubdomain)
  allowOneOf(errors, { part: spec, name: 'volumeMode', at: 'spec' }, ['Block', 'Filesystem'])
  return live === undefined ? errors : [...errors, ...validateChange(spec, partOf(live, 'spec'))]
}

const notInline = 'may not be specified in the context of inline volumes'

/** The rules of a volume that a VolumeAttachment holds itself: one of a CSI driver, without what makes a PersistentVolume of it. */
export function validateInlineVolume(spec: Part, at: string): FieldError[] {
  const errors: FieldError[] = []
  const refuse = (...fields: readonly string[]): void => {
    for (const field of fields) if (isGiven(spec, field)) errors.push(forbiddenValue(`${at}.${field}`, notInline))
  }
  refuse('claimRef')
  if (Object.keys(partOf(spec, 'capacity')).length > 0) refuse('capacity')
  if (!isGiven(spec, 'csi')) errors.push(requiredValue(`${at}.csi`, 'has to be specified in the context of inline volumes'))
  requireAccessModes(errors, spec, at)
  const policy = textOf(spec, 'persistentVolumeReclaimPolicy')
  if (policy !== '' && policy !== 'Retain') {
    errors.push(forbiddenValue(`${at}.persistentVolumeReclaimPolicy`, 'may only be Retain in the context of inline volumes'))
  }
  refuse('nodeAffinity')
  validateSource(errors, spec, at)
  validateDriverSecrets(errors, optionalPart(spec, 'csi'), `${at}.csi`)
  if (textOf(spec, 'storageClassName') !== '') refuse('storageClassName')
  const mode = spec['volumeMode']
  if (isGiven(spec, 'volumeMode') && mode !== 'Filesystem') {
    errors.push(forbiddenValue(`${at}.volumeMode`, 'may not specify volumeMode other than Filesystem in the context of inline volumes'))
  }
  return errors
}

function requireAccessModes(errors: FieldError[], spec: Part, at: string): void {
  const modes = itemsOf<string>(spec, 'accessModes')
  if (modes.length === 0) errors.push(requiredValue(`${at}.accessModes`))
  errors.push(...validateAccessModes(modes, `${at}.accessModes`))
}

function validateCapacity(errors: FieldError[], capacity: Part): void {
  const names = Object.keys(capacity)
  if (names.length === 0) errors.push(requiredValue('spec.capacity'))
  if (names.length !== 1 || names[0] !== 'storage')
    errors.push(unsupportedValue('spec.capacity', goValue(map(quantity()), capacity), ['storage']))
  for (const name of names) {
    errors.push(...validateAmount(capacity[name], `spec.capacity[${name}]`))
    const quantity = parseQuantity(String(capacity[name]))
    if (quantity === undefined || quantitySign(quantity) > 0) continue
    errors.push(invalidValue(`spec.capacity[${name}]`, capacity[name], 'must be greater than zero'))
  }
}

/** An amount of a resource, which may be none but not less. */
export function validateAmount(amount: unknown, field: string): FieldError[] {
  const quantity = parseQuantity(String(amount))
  if (quantity === undefined || quantitySign(quantity) >= 0) return []
  return [invalidValue(field, roundUpQuantity(quantity), 'must be a valid resource quantity')]
}

function validateNodeAffinity(errors: FieldError[], affinity: Part | undefined): void {
  if (affinity === undefined) return
  const required = optionalPart(affinity, 'required')
  const at = 'spec.nodeAffinity.required'
  if (required === undefined) errors.push(requiredValue(at, 'must specify required node constraints'))
  else errors.push(...validateNodeSelector(required, at))
}

function validateSource(errors: FieldError[], spec: Part, at: string): void {
  let count = 0
  for (const [name, rule] of sourceRules) {
    const source = optionalPart(spec, name)
    if (source === undefined) continue
    if (count > 0) errors.push(forbiddenValue(`${at}.${name}`, 'may not specify more than 1 volume type'))
    else rule(errors, source, `${at}.${name}`)
    count += 1
  }
  if (count === 0) errors.push(requiredValue(at, 'must specify a volume type'))
  if (isGiven(spec, 'local') && !isGiven(spec, 'nodeAffinity')) {
    errors.push(requiredValue(`${at}.nodeAffinity`, 'Local volume requires node affinity'))
  }
  const isRoot = /^\/(?:\.?\/)*\.?$/.test(textOf(optionalPart(spec, 'hostPath'), 'path'))
  if (isRoot && textOf(spec, 'persistentVolumeReclaimPolicy') === 'Recycle') {
    errors.push(forbiddenValue(`${at}.persistentVolumeReclaimPolicy`, "may not be 'recycle' for a hostPath mount of '/'"))
  }
}

/** A secret of a volume that belongs to no namespace names its own. */
function requireSecret(errors: FieldError[], source: Part, field: string, at: string): void {
  const secret = optionalPart(source, field)
  if (secret === undefined) return
  requireText(errors, { part: secret, name: 'name', at: `${at}.${field}` })
  requireText(errors, { part: secret, name: 'namespace', at: `${at}.${field}` })
}

function validateGlusterfs(errors: FieldError[], source: Part, at: string): void {
  volumeSourceRules.get('glusterfs')?.(errors, source, at)
  const namespace = source['endpointsNamespace']
  if (namespace === '') {
    errors.push(invalidValue(`${at}.endpointsNamespace`, '', 'if the endpointnamespace is set, it must be a valid namespace name'))
  }
  allowChecked(errors, { part: source, name: 'endpointsNamespace', at }, checkLabel)
}

function validateIscsi(errors: FieldError[], source: Part, at: string): void {
  volumeSourceRules.get('iscsi')?.(errors, source, at)
  const secret = optionalPart(source, 'secretRef')
  if (secret !== undefined) requireText(errors, { part: secret, name: 'name', at: `${at}.secretRef` })
}

function validateCinder(errors: FieldError[], source: Part, at: string): void {
  requireText(errors, { part: source, name: 'volumeID', at })
  requireSecret(errors, source, 'secretRef', at)
}

function validateAzureFile(errors: FieldError[], source: Part, at: string): void {
  requireText(errors, { part: source, name: 'secretName', at })
  requireText(errors, { part: source, name: 'shareName', at })
  if (source['secretNamespace'] === '') errors.push(requiredValue(`${at}.secretNamespace`))
}

function validateLocal(errors: FieldError[], source: Part, at: string): void {
  if (requireText(errors, { part: source, name: 'path', at })) refuseBacksteps(errors, textOf(source, 'path'), `${at}.path`)
}

function validateStorageOs(errors: FieldError[], source: Part, at: string): void {
  validateStorageOsVolume(errors, source, at)
  requireSecret(errors, source, 'secretRef', at)
}

const driverSecrets = ['controllerPublishSecretRef', 'controllerExpandSecretRef', 'nodePublishSecretRef', 'nodeExpandSecretRef']

function validateCsi(errors: FieldError[], source: Part, at: string): void {
  errors.push(...validateDriverName(textOf(source, 'driver'), `${at}.driver`))
  requireText(errors, { part: source, name: 'volumeHandle', at })
}

/** Names of secrets are labels; a volume that was stored with a longer form may keep such names. */
function validateDriverSecrets(errors: FieldError[], source: Part | undefined, at: string, before?: Part): void {
  const namesBefore = [...driverSecrets, 'nodeStageSecretRef'].map((field) => textOf(optionalPart(before, field), 'name'))
  const isTolerant = namesBefore.some((name) => name !== '' && checkLabel(name).length > 0)
  for (const field of driverSecrets) {
    const secret = optionalPart(source, field)
    if (secret === undefined) continue
    requireChecked(errors, { part: secret, name: 'name', at: `${at}.${field}` }, isTolerant ? checkSubdomain : checkLabel)
    requireChecked(errors, { part: secret, name: 'namespace', at: `${at}.${field}` }, checkLabel)
  }
}

function validateChange(spec: Part, before: Part): FieldError[] {
  const errors: FieldError[] = []
  if (!isSame(sourceOf(spec, before), sourceOf(before, before))) {
    const field = 'spec.persistentvolumesource'
    errors.push(forbiddenValue(field, 'spec.persistentvolumesource is immutable after creation'))
  }
  errors.push(...immutableValue('volumeMode', spec['volumeMode'], before['volumeMode']))
  if (isGiven(before, 'nodeAffinity')) errors.push(...immutableValue('nodeAffinity', spec['nodeAffinity'], before['nodeAffinity']))
  return errors
}

/** The source; a secret that a driver needs to grow the volume may come later. */
function sourceOf(spec: Part, before: Part): Part {
  const source = Object.fromEntries([...sourceRules.keys()].flatMap((name) => (isGiven(spec, name) ? [[name, spec[name]]] : [])))
  const driver = optionalPart(source, 'csi')
  const maySetSecret = driver !== undefined && isGiven(before, 'csi') && !isGiven(optionalPart(before, 'csi'), 'controllerExpandSecretRef')
  if (!maySetSecret) return source
  const { controllerExpandSecretRef: _secret, ...rest } = driver
  return { ...source, csi: rest }
}
