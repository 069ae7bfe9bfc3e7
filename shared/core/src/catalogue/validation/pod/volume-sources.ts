import { parseQuantity, quantitySign } from '../../../meta/quantity.ts'
import type { FieldError } from '../../../meta/status.ts'
import { checkLabel, checkSubdomain } from '../../../meta/validate-names.ts'
import { namesOf, profiles } from '../../../names.ts'
import { forbiddenValue, invalidFor, invalidValue, requiredValue, unsupportedValue } from '../../../validation/field-errors.ts'
import { validateAnnotations, validateLabels } from '../../../validation/object-meta.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from '../../../validation/part.ts'
import { allowBetween, allowChecked, allowOneOf, isGiven, onceForShared, type PartRule, requireChecked, requireText } from '../checks.ts'
import { validateClaimSpec } from '../claim-spec.ts'
import { validateDriverName } from '../csi-node.ts'

import { refuseBacksteps, validateDescendingPath } from './paths.ts'
import { validateFileVolume, validateProjected } from './projected.ts'

/** A source that only has to name something. */
const naming =
  (...fields: readonly string[]): PartRule =>
  (errors, source, at) => {
    for (const field of fields) requireText(errors, { part: source, name: field, at })
  }

const listing =
  (...fields: readonly string[]): PartRule =>
  (errors, source, at) => {
    for (const field of fields) if (itemsOf(source, field).length === 0) errors.push(requiredValue(`${at}.${field}`))
  }

/** What a Pod's volume can come from. */
export const volumeSourceRules: ReadonlyMap<string, PartRule> = new Map<string, PartRule>([
  ['emptyDir', validateEmptyDir],
  ['hostPath', validateHostPath],
  ['gitRepo', validateGitRepo],
  ['gcePersistentDisk', withPartition('pdName')],
  ['awsElasticBlockStore', withPartition('volumeID')],
  ['secret', validateFileVolume('secretName')],
  ['nfs', validateNfs],
  ['iscsi', validateIscsi],
  ['glusterfs', naming('endpoints', 'path')],
  ['persistentVolumeClaim', naming('claimName')],
  ['rbd', all(listing('monitors'), naming('image'))],
  ['cinder', all(naming('volumeID'), withSecret('secretRef'))],
  ['cephfs', listing('monitors')],
  ['flocker', validateFlocker],
  ['downwardAPI', validateFileVolume()],
  ['fc', validateFibreChannel],
  ['flexVolume', validateFlexVolume],
  ['configMap', validateFileVolume('name')],
  ['azureFile', naming('secretName', 'shareName')],
  ['vsphereVolume', naming('volumePath')],
  ['photonPersistentDisk', naming('pdID')],
  ['portworxVolume', naming('volumeID')],
  ['azureDisk', validateAzureDisk],
  ['projected', onceForShared(validateProjected)],
  ['quobyte', validateQuobyte],
  ['scaleIO', naming('gateway', 'system', 'volumeName')],
  ['storageos', all(validateStorageOsVolume, withSecret('secretRef'))],
  ['csi', validateCsi],
  ['ephemeral', validateClaimTemplate],
])

function all(...rules: readonly PartRule[]): PartRule {
  return (errors, source, at) => {
    for (const rule of rules) rule(errors, source, at)
  }
}

function withSecret(field: string): PartRule {
  return (errors, source, at) => {
    const secret = optionalPart(source, field)
    if (secret !== undefined) requireText(errors, { part: secret, name: 'name', at: `${at}.${field}` })
  }
}

function withPartition(field: string): PartRule {
  return (errors, source, at) => {
    requireText(errors, { part: source, name: field, at })
    allowBetween(errors, { part: source, name: 'partition', at }, { min: 0, max: 255, detail: 'must be between 1 and 255, inclusive' })
  }
}

function validateEmptyDir(errors: FieldError[], source: Part, at: string): void {
  const limit = parseQuantity(textOf(source, 'sizeLimit'))
  if (limit === undefined || quantitySign(limit) >= 0) return
  errors.push(forbiddenValue(`${at}.sizeLimit`, 'SizeLimit field must be a valid resource quantity'))
}

const hostPathTypes = ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket']

function validateHostPath(errors: FieldError[], source: Part, at: string): void {
  if (!requireText(errors, { part: source, name: 'path', at })) return
  refuseBacksteps(errors, textOf(source, 'path'), `${at}.path`)
  allowOneOf(errors, { part: source, name: 'type', at }, hostPathTypes)
}

function validateGitRepo(errors: FieldError[], source: Part, at: string): void {
  requireText(errors, { part: source, name: 'repository', at })
  validateDescendingPath(errors, textOf(source, 'directory'), `${at}.directory`)
}

function validateNfs(errors: FieldError[], source: Part, at: string): void {
  requireText(errors, { part: source, name: 'server', at })
  requireText(errors, { part: source, name: 'path', at })
  const path = textOf(source, 'path')
  if (!path.startsWith('/')) errors.push(invalidValue(`${at}.path`, path, 'must be an absolute path'))
}

/** Forms of the names by which iSCSI calls initiators and targets, by how they begin. */
const iscsiNames: Readonly<Record<string, RegExp>> = {
  iqn: /iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+:[^,;*&$|\s]+$/,
  eui: /^eui.[A-Za-z0-9]{16}$/,
  naa: /^naa.[A-Za-z0-9]{32}$/,
}

function checkIscsiName(name: string): readonly string[] {
  const form = iscsiNames[name.slice(0, 3)]
  if (form === undefined) return ['must be valid format starting with iqn, eui, or naa']
  return form.test(name) ? [] : ['must be valid format']
}

function validateIscsi(errors: FieldError[], source: Part, at: string): void {
  requireText(errors, { part: source, name: 'targetPortal', at })
  requireChecked(errors, { part: source, name: 'iqn', at }, checkIscsiName)
  allowBetween(errors, { part: source, name: 'lun', at }, { min: 0, max: 255 })
  const needsSecret = source['chapAuthDiscovery'] === true || source['chapAuthSession'] === true
  if (needsSecret && !isGiven(source, 'secretRef')) errors.push(requiredValue(`${at}.secretRef`))
  const initiator = source['initiatorName']
  if (typeof initiator === 'string') errors.push(...invalidFor(`${at}.initiatorName`, initiator, checkIscsiName(initiator)))
}

function validateFlocker(errors: FieldError[], source: Part, at: string): void {
  const name = textOf(source, 'datasetName')
  const uuid = textOf(source, 'datasetUUID')
  if (name === '' && uuid === '') errors.push(requiredValue(at, 'one of datasetName and datasetUUID is required'))
  if (name !== '' && uuid !== '') {
    errors.push(invalidValue(at, 'resource', 'datasetName and datasetUUID can not be specified simultaneously'))
  }
  if (name.includes('/')) errors.push(invalidValue(`${at}.datasetName`, name, "must not contain '/'"))
}

function validateFibreChannel(errors: FieldError[], source: Part, at: string): void {
  const targets = itemsOf(source, 'targetWWNs')
  const ids = itemsOf(source, 'wwids')
  if (targets.length === 0 && ids.length === 0) {
    errors.push(requiredValue(`${at}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both'))
  }
  if (targets.length === 0) return
  if (ids.length > 0) errors.push(invalidValue(`${at}.targetWWNs`, targets, 'targetWWNs and wwids can not be specified simultaneously'))
  if (!isGiven(source, 'lun')) errors.push(requiredValue(`${at}.lun`, 'lun is required if targetWWNs is specified'))
  allowBetween(errors, { part: source, name: 'lun', at }, { min: 0, max: 255 })
}

const reservedDomains = profiles.flatMap((profile) => [namesOf(profile).labelDomain, namesOf(profile).apiDomain])

function validateFlexVolume(errors: FieldError[], source: Part, at: string): void {
  requireText(errors, { part: source, name: 'driver', at })
  for (const key of Object.keys(partOf(source, 'options'))) {
    const [namespace = ''] = key.toLowerCase().split('/')
    if (!reservedDomains.some((domain) => namespace === domain || namespace.endsWith(`.${domain}`))) continue
    errors.push(invalidValue(`${at}.options[${key}]`, key, `${[...new Set(reservedDomains)].join(' and ')} namespaces are reserved`))
  }
}

const managedDisk = {
  start: '/subscriptions/',
  whole: '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}',
}
const blobDisk = { start: 'https://', whole: 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd' }

function validateAzureDisk(errors: FieldError[], source: Part, at: string): void {
  requireText(errors, { part: source, name: 'diskName', at })
  requireText(errors, { part: source, name: 'diskURI', at })
  allowOneOf(errors, { part: source, name: 'cachingMode', at }, ['None', 'ReadOnly', 'ReadWrite'])
  allowOneOf(errors, { part: source, name: 'kind', at }, ['Dedicated', 'Managed', 'Shared'])
  const uri = textOf(source, 'diskURI')
  const isManaged = textOf(source, 'kind') === 'Managed'
  const form = isManaged ? managedDisk : blobDisk
  if (!uri.startsWith(form.start)) errors.push(unsupportedValue(`${at}.diskURI`, uri, [form.whole]))
}

/** A host and a port, either of which may be empty; the port may be a name. */
const hostAndPort = /^(?:[^:[\]]*|\[[^[\]]*\]):[^:[\]]*$/

function validateQuobyte(errors: FieldError[], source: Part, at: string): void {
  const registry = textOf(source, 'registry')
  const wrongRegistry = 'must be a host:port pair or multiple pairs separated by commas'
  if (registry === '') errors.push(requiredValue(`${at}.registry`, wrongRegistry))
  else if (textOf(source, 'tenant').length >= 65) {
    errors.push(requiredValue(`${at}.tenant`, 'must be a UUID and may not exceed a length of 64 characters'))
  } else {
    const wrong = registry.split(',').filter((pair) => !hostAndPort.test(pair))
    errors.push(...wrong.map(() => invalidValue(`${at}.registry`, registry, wrongRegistry)))
  }
  requireText(errors, { part: source, name: 'volume', at })
}

/** The names of a StorageOS volume, in a Pod or in a PersistentVolume. */
export function validateStorageOsVolume(errors: FieldError[], source: Part, at: string): void {
  requireChecked(errors, { part: source, name: 'volumeName', at }, checkLabel)
  allowChecked(errors, { part: source, name: 'volumeNamespace', at }, checkLabel)
}

function validateCsi(errors: FieldError[], source: Part, at: string): void {
  errors.push(...validateDriverName(textOf(source, 'driver'), `${at}.driver`))
  const secret = optionalPart(source, 'nodePublishSecretRef')
  if (secret !== undefined) requireChecked(errors, { part: secret, name: 'name', at: `${at}.nodePublishSecretRef` }, checkSubdomain)
}

/** A claim that is made together with its Pod. It is named after the Pod, so its metadata may only describe it. */
function validateClaimTemplate(errors: FieldError[], source: Part, at: string): void {
  const template = optionalPart(source, 'volumeClaimTemplate')
  if (template === undefined) {
    errors.push(requiredValue(`${at}.volumeClaimTemplate`))
    return
  }
  const path = `${at}.volumeClaimTemplate`
  for (const [name, value] of Object.entries(partOf(template, 'metadata'))) {
    if (value === null || value === undefined) continue
    if (name === 'labels') validateLabels(errors, value as Record<string, string>, `${path}.metadata.labels`)
    else if (name === 'annotations') validateAnnotations(errors, value as Record<string, string>, `${path}.metadata.annotations`)
    else errors.push(forbiddenValue(`${path}.metadata.${name}`, 'cannot be set for an ephemeral volume'))
  }
  errors.push(...validateClaimSpec(partOf(template, 'spec'), `${path}.spec`))
}
