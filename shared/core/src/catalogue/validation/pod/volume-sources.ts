import { parseQuantity, quantitySign } from '../../../meta/quantity.ts'
import type { FieldError } from '../../../meta/status.ts'
import { namesOf, profiles } from '../../../names.ts'
import { allowBetween, allowOneOf, isGiven, onceForShared, type PartRule, requireText } from '../checks.ts'
import { validateDriverName } from '../csi-node.ts'
import { forbiddenValue, invalidValue, requiredValue } from '../field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from '../part.ts'
import { validateClaimTemplate } from './claim-template.ts'
import { refuseBacksteps, validateDescendingPath } from './paths.ts'
import { validateFileVolume, validateProjected } from './projected.ts'

/** A source that only has to name something. */
const naming =
  (...fields: readonly string[]): PartRule =>
  (errors, source, at) => {
    for (const field of fields) requireText(errors, source, field, at)
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
  ['storageos', all(naming('volumeName'), withSecret('secretRef'))],
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
    if (secret !== undefined) requireText(errors, secret, 'name', `${at}.${field}`)
  }
}

function withPartition(field: string): PartRule {
  return (errors, source, at) => {
    requireText(errors, source, field, at)
    allowBetween(errors, source, 'partition', at, { min: 0, max: 255, detail: 'must be between 1 and 255, inclusive' })
  }
}

function validateEmptyDir(errors: FieldError[], source: Part, at: string): void {
  const limit = parseQuantity(textOf(source, 'sizeLimit'))
  if (limit === undefined || quantitySign(limit) >= 0) return
  errors.push(forbiddenValue(`${at}.sizeLimit`, 'SizeLimit field must be a valid resource quantity'))
}

const hostPathTypes = ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket']

function validateHostPath(errors: FieldError[], source: Part, at: string): void {
  if (!requireText(errors, source, 'path', at)) return
  refuseBacksteps(errors, textOf(source, 'path'), `${at}.path`)
  allowOneOf(errors, source, 'type', at, hostPathTypes)
}

function validateGitRepo(errors: FieldError[], source: Part, at: string): void {
  requireText(errors, source, 'repository', at)
  validateDescendingPath(errors, textOf(source, 'directory'), `${at}.directory`)
}

function validateNfs(errors: FieldError[], source: Part, at: string): void {
  requireText(errors, source, 'server', at)
  requireText(errors, source, 'path', at)
  const path = textOf(source, 'path')
  if (!path.startsWith('/')) errors.push(invalidValue(`${at}.path`, path, 'must be an absolute path'))
}

const initiatorPattern =
  /^(?:iqn\.\d{4}-\d{2}\.(?:[a-z0-9.-]*[a-z0-9])(?::[^,;*&$|\s]+)?|eui\.[0-9a-fA-F]{16}|naa\.(?:[0-9a-fA-F]{16}|[0-9a-fA-F]{32}))$/

function validateIscsi(errors: FieldError[], source: Part, at: string): void {
  requireText(errors, source, 'targetPortal', at)
  for (const field of ['iqn', 'initiatorName']) {
    const name = textOf(source, field)
    if (name === '' && field === 'iqn') errors.push(requiredValue(`${at}.iqn`))
    if (name !== '' && !initiatorPattern.test(name)) errors.push(invalidValue(`${at}.${field}`, name, 'must be valid format'))
  }
  allowBetween(errors, source, 'lun', at, { min: 0, max: 255 })
  const needsSecret = source['chapAuthDiscovery'] === true || source['chapAuthSession'] === true
  if (needsSecret && !isGiven(source, 'secretRef')) errors.push(requiredValue(`${at}.secretRef`))
  withSecret('secretRef')(errors, source, at)
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
  allowBetween(errors, source, 'lun', at, { min: 0, max: 255 })
}

const reservedDomains = profiles.flatMap((profile) => [namesOf(profile).labelDomain, namesOf(profile).apiDomain])

function validateFlexVolume(errors: FieldError[], source: Part, at: string): void {
  requireText(errors, source, 'driver', at)
  for (const key of Object.keys(partOf(source, 'options'))) {
    const [namespace = ''] = key.split('/')
    if (!reservedDomains.some((domain) => namespace === domain || namespace.endsWith(`.${domain}`))) continue
    errors.push(invalidValue(`${at}.options[${key}]`, key, `${[...new Set(reservedDomains)].join(' and ')} namespaces are reserved`))
  }
}

function validateAzureDisk(errors: FieldError[], source: Part, at: string): void {
  requireText(errors, source, 'diskName', at)
  requireText(errors, source, 'diskURI', at)
  allowOneOf(errors, source, 'cachingMode', at, ['None', 'ReadOnly', 'ReadWrite'])
  allowOneOf(errors, source, 'kind', at, ['Dedicated', 'Managed', 'Shared'])
  const uri = textOf(source, 'diskURI')
  const isManaged = textOf(source, 'kind') === 'Managed'
  const start = isManaged ? '/subscriptions/' : 'https://'
  if (uri !== '' && !uri.startsWith(start)) errors.push(invalidValue(`${at}.diskURI`, uri, `must start with '${start}'`))
}

function validateQuobyte(errors: FieldError[], source: Part, at: string): void {
  if (requireText(errors, source, 'registry', at, 'must be a host:port pair or multiple pairs separated by commas')) {
    const registry = textOf(source, 'registry')
    for (const pair of registry.split(',')) {
      if (!/^[^:]+:\d+$|^\[[^\]]+\]:\d+$/.test(pair)) {
        errors.push(invalidValue(`${at}.registry`, registry, 'must be a host:port pair or multiple pairs separated by commas'))
      }
    }
  }
  const tenant = textOf(source, 'tenant')
  if (tenant.length >= 65) errors.push(requiredValue(`${at}.tenant`, 'must be a UUID and may not exceed a length of 64 characters'))
  requireText(errors, source, 'volume', at)
}

function validateCsi(errors: FieldError[], source: Part, at: string): void {
  errors.push(...validateDriverName(textOf(source, 'driver'), `${at}.driver`))
  withSecret('nodePublishSecretRef')(errors, source, at)
}
