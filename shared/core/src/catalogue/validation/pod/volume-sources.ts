import { needed } from '../../../description/fields.ts'
import { string, text } from '../../../description/texts.ts'
import { checkLabel, type FieldError, parseQuantity, quantitySign } from '../../../meta/index.ts'
import { namesOf, profiles } from '../../../names.ts'
import { forbiddenValue, invalidFor, invalidValue, requiredValue, unsupportedValue } from '../../../validation/field-errors.ts'
import { checkIscsiName, checkStoredIscsiName } from '../../../validation/formats.ts'
import { validateTemplateMeta } from '../../../validation/object-meta.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from '../../../validation/part.ts'
import { as, partAt, type RuleContext, type Step, type TypeRules, within } from '../../../validation/rule-book.ts'
import { allowBetween, allowChecked, isGiven, requireText } from '../checks.ts'
import { validateDriverName } from '../csi-node.ts'
import { pathIn, refuseBacksteps, validateDescendingPath } from './paths.ts'

/** Sources of Pod volumes, in the order of validation. */
const podSources = [
  ...['emptyDir', 'hostPath', 'gitRepo', 'gcePersistentDisk', 'awsElasticBlockStore', 'secret', 'nfs', 'iscsi', 'glusterfs'],
  ...['persistentVolumeClaim', 'rbd', 'cinder', 'cephfs', 'flocker', 'downwardAPI', 'fc', 'flexVolume', 'configMap', 'azureFile'],
  ...['vsphereVolume', 'photonPersistentDisk', 'portworxVolume', 'azureDisk', 'projected', 'quobyte', 'scaleIO', 'storageos', 'csi'],
  ...['ephemeral', 'image'],
]

/** Sources of PersistentVolumes, in the order of validation. */
export const persistentSources = [
  ...['hostPath', 'gcePersistentDisk', 'awsElasticBlockStore', 'glusterfs', 'flocker', 'nfs', 'rbd', 'quobyte', 'cephfs', 'iscsi'],
  ...['cinder', 'fc', 'flexVolume', 'azureFile', 'vsphereVolume', 'photonPersistentDisk', 'portworxVolume', 'azureDisk', 'scaleIO'],
  ...['local', 'storageos', 'csi'],
]

const named = as('name', needed(string()))
/** A reference to a secret with a namespace, for volumes that are not in a namespace. */
const placedSecret = within('secretRef', named, as('namespace', needed(string())))
/** Requires exactly one of these sources. */
export const sourceChoice = (oneOf: readonly string[]): Step => ({
  oneOf,
  none: 'must specify a volume type',
  many: 'may not specify more than 1 volume type',
  namedWithin: { gcePersistentDisk: 'persistentDisk' },
  namedToo: { cephfs: 'cephFS', downwardAPI: 'downwarAPI' },
})

const driver: Step = (errors, source, at, { level }) =>
  void errors.push(...validateDriverName(textOf(source, 'driver'), `${at}.driver`, level))
const iscsi: TypeRules = ['targetPortal', 'iqn', 'lun', requireChapSecret, { passedOver: ['initiatorName'] }]
const path: TypeRules = [{ decisive: 'path' }, pathIn('path', refuseBacksteps)]

/** The sources of volumes. */
export const sourceRules: Readonly<Record<string, TypeRules>> = {
  'core/v1.VolumeSource': [sourceChoice(podSources)],
  'core/v1.PersistentVolumeSource': [sourceChoice(persistentSources)],
  'core/v1.EmptyDirVolumeSource': [validateEmptyDir],
  'core/v1.HostPathVolumeSource': path,
  'core/v1.LocalVolumeSource': [...path, requireAffinity],
  'core/v1.GitRepoVolumeSource': ['repository', pathIn('directory', validateDescendingPath)],
  'core/v1.NFSVolumeSource': ['server', 'path', pathIn('path', requireAbsolute)],
  'core/v1.ISCSIVolumeSource': [...iscsi, initiator(checkIscsiName)],
  'core/v1.ISCSIPersistentVolumeSource': [...iscsi, initiator(checkStoredIscsiName), within('secretRef', named)],
  'core/v1.GlusterfsPersistentVolumeSource': ['endpoints', 'path', validateEndpointsNamespace],
  'core/v1.CinderVolumeSource': ['volumeID', within('secretRef', named)],
  'core/v1.CinderPersistentVolumeSource': ['volumeID', placedSecret],
  'core/v1.FlockerVolumeSource': [validateFlocker],
  'core/v1.FCVolumeSource': [validateFibreChannel],
  'core/v1.FlexVolumeSource': ['driver', refuseReservedOptions],
  'core/v1.FlexPersistentVolumeSource': ['driver', refuseReservedOptions],
  'core/v1.AzureFilePersistentVolumeSource': ['secretName', 'shareName', validateSecretNamespace],
  'core/v1.AzureDiskVolumeSource': ['diskName', 'diskURI', 'cachingMode', 'kind', validateDiskUri],
  'core/v1.QuobyteVolumeSource': [validateQuobyte],
  'core/v1.StorageOSVolumeSource': ['volumeName', 'volumeNamespace', within('secretRef', named)],
  'core/v1.StorageOSPersistentVolumeSource': ['volumeName', 'volumeNamespace', placedSecret],
  'core/v1.CSIVolumeSource': [driver, within('nodePublishSecretRef', as('name', needed(text('subdomain'))))],
  'core/v1.CSIPersistentVolumeSource': [driver, 'volumeHandle'],
  'core/v1.EphemeralVolumeSource': [{ passedOver: ['volumeClaimTemplate'] }, validateClaimTemplate],
}

function validateEmptyDir(errors: FieldError[], source: Part, at: string): void {
  const limit = parseQuantity(textOf(source, 'sizeLimit'))
  if (limit === undefined || quantitySign(limit) >= 0) return
  errors.push(forbiddenValue(`${at}.sizeLimit`, 'SizeLimit field must be a valid resource quantity'))
}

/** kube-apiserver uses another name for the field. */
function initiator(check: (name: string) => readonly string[]): Step {
  return (errors, source, at) => {
    const name = source['initiatorName']
    if (typeof name === 'string') errors.push(...invalidFor(`${at}.initiatorname`, name, check(name)))
  }
}

/** A local volume requires a node affinity. */
function requireAffinity(errors: FieldError[], _source: Part, at: string, { object }: RuleContext): void {
  const place = at.slice(0, at.lastIndexOf('.'))
  if (isGiven(partAt(object, place), 'nodeAffinity')) return
  errors.push(requiredValue(`${place}.nodeAffinity`, 'Local volume requires node affinity'))
}

function requireAbsolute(errors: FieldError[], path: string, field: string): void {
  if (!path.startsWith('/')) errors.push(invalidValue(field, path, 'must be an absolute path'))
}

function requireChapSecret(errors: FieldError[], source: Part, at: string): void {
  const needsSecret = source['chapAuthDiscovery'] === true || source['chapAuthSession'] === true
  if (needsSecret && !isGiven(source, 'secretRef')) errors.push(requiredValue(`${at}.secretRef`))
}

function validateEndpointsNamespace(errors: FieldError[], source: Part, at: string): void {
  const field = `${at}.endpointsNamespace`
  const namespace = source['endpointsNamespace']
  if (namespace === '') errors.push(invalidValue(field, '', 'if the endpointnamespace is set, it must be a valid namespace name'))
  allowChecked(errors, { part: source, name: 'endpointsNamespace', at }, checkLabel)
}

function validateSecretNamespace(errors: FieldError[], source: Part, at: string): void {
  if (source['secretNamespace'] === '') errors.push(requiredValue(`${at}.secretNamespace`))
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

function refuseReservedOptions(errors: FieldError[], source: Part, at: string): void {
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

function validateDiskUri(errors: FieldError[], source: Part, at: string): void {
  const uri = textOf(source, 'diskURI')
  const isManaged = textOf(source, 'kind') === 'Managed'
  const form = isManaged ? managedDisk : blobDisk
  if (!uri.startsWith(form.start)) errors.push(unsupportedValue(`${at}.diskURI`, uri, [form.whole]))
}

/** A host and a port. Either may be empty, and the port may be a name. */
const hostAndPort = /^(?:[^:[\]]*|\[[^[\]]*\]):[^:[\]]*$/

function validateQuobyte(errors: FieldError[], source: Part, at: string): void {
  const registry = textOf(source, 'registry')
  const wrongRegistry = 'must be a host:port pair or multiple pairs separated by commas'
  if (registry === '') errors.push(requiredValue(`${at}.registry`, wrongRegistry))
  else if (textOf(source, 'tenant').length >= 65) {
    errors.push(requiredValue(`${at}.tenant`, 'must be a UUID and may not exceed a length of 64 characters'))
  } else if (!registry.split(',').every((pair) => hostAndPort.test(pair))) {
    errors.push(invalidValue(`${at}.registry`, registry, wrongRegistry))
  }
  requireText(errors, { part: source, name: 'volume', at })
}

/** Validates a claim that is created together with its Pod. It is named after the Pod, so its metadata must not name it. */
function validateClaimTemplate(errors: FieldError[], source: Part, at: string, context: RuleContext): void {
  const template = optionalPart(source, 'volumeClaimTemplate')
  if (template === undefined) {
    errors.push(requiredValue(`${at}.volumeClaimTemplate`))
    return
  }
  const path = `${at}.volumeClaimTemplate`
  validateTemplateMeta(errors, partOf(template, 'metadata'), `${path}.metadata`)
  context.rules.of('core/v1.PersistentVolumeClaimSpec')(errors, partOf(template, 'spec'), `${path}.spec`, context)
}
