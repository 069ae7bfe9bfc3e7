import { type AdmissionAccess, type AdmissionRule, type Attributes, objectKey, type StorageService, type User } from '@orch/core/contracts'
import { isJsonObject, jsonEqual } from '@orch/core/json'
import { internal, notFound, StatusError } from '@orch/core/meta'
import { domainGroup, domainLabel, type Names, subdomainLabel } from '@orch/core/names'
import { type BuiltIn, isOfType, isPodCertificateRequest, parseStored } from '@orch/core/schema'
import { allowed, denied, forbid, type Plugin, type PluginNeeds, type Verdict } from '../plugin.ts'
import { metadataOf, objectsOf } from './objects.ts'
import { type Container, type Pod, type PodSpec, podOf } from './pod.ts'

/** The first levels with stable resource claims, with Pod certificates, and with the present text about audiences. */
const [slicesSince, certificateRequestsSince, audienceTextSince] = [34, 37, 37]

const audienceGate = 'ServiceAccountNodeAudienceRestriction'

/** One write of one node. */
interface Asked {
  readonly node: string
  readonly attributes: Attributes
  readonly names: Names
  readonly storage: StorageService
  readonly level: number
  readonly areAudiencesChecked: boolean
  /** The node has the permission for what no volume of the Pod names. */
  readonly isPermitted: boolean
}

/** Throws the reason of a refusal. */
type Check = (asked: Asked) => void | Promise<void>

const operations = ['CREATE', 'UPDATE', 'DELETE'] as const

/** NodeRestriction: a node writes only its own objects. Requests of other users are allowed. */
export function nodeRestriction({ catalogue: { names, level, isGateOn }, storage }: PluginNeeds): Plugin {
  const areAudiencesChecked = isGateOn(audienceGate)
  const coordination = domainGroup(names, 'coordination')
  const storageGroup = domainGroup(names, 'storage')
  const [devices, certificates] = [domainGroup(names, 'resource'), domainGroup(names, 'certificates')]
  const checks: Readonly<Record<string, Check>> = {
    '/pods': checkPods,
    '/nodes': checkNode,
    '/persistentvolumeclaims': checkClaim,
    '/serviceaccounts': checkToken,
    [`${coordination}/leases`]: checkLease,
    [`${storageGroup}/csinodes`]: checkCsiNode,
    [`${devices}/resourceslices`]: checkSlice,
    [`${certificates}/podcertificaterequests`]: checkCertificateRequest,
  }
  const core = ['pods', 'pods/*', 'nodes', 'nodes/*', 'persistentvolumeclaims', 'persistentvolumeclaims/*', 'serviceaccounts/token']
  return {
    admissionRules: [
      admissionRuleFor('', core),
      admissionRuleFor(coordination, ['leases']),
      admissionRuleFor(storageGroup, ['csinodes']),
      ...(level >= slicesSince ? [admissionRuleFor(devices, ['resourceslices'])] : []),
      ...(level >= certificateRequestsSince
        ? [admissionRuleFor(certificates, ['podcertificaterequests', 'podcertificaterequests/*'])]
        : []),
    ],
    mutate(attributes, inquiry) {
      const node = nodeOf(attributes.user)
      if (node === undefined) return allowed
      const right = rightBeyondVolumes(attributes, areAudiencesChecked)
      const decision = right === undefined ? undefined : inquiry.decisionOn(right)
      if (right !== undefined && node !== '' && decision === undefined) return { kind: 'asks', accesses: [right] }
      const asked = { node, attributes, names, storage, level, areAudiencesChecked, isPermitted: decision?.isAllowed === true }
      return check(checks[`${attributes.group}/${attributes.resource}`], asked)
    },
  }
}

function admissionRuleFor(group: string, resources: readonly string[]): AdmissionRule {
  return { phase: 'mutate', operations, groups: [group], resources, namespaces: [] }
}

const userPrefix = 'system:node:'

/** The name of the requesting node; undefined for other users. */
function nodeOf({ name, groups }: User): string | undefined {
  return name.startsWith(userPrefix) && groups.includes('system:nodes') ? name.slice(userPrefix.length) : undefined
}

async function check(checkIt: Check | undefined, asked: Asked): Promise<Verdict> {
  try {
    if (asked.node === '') refuse(asked, `could not determine node from user "${asked.attributes.user.name}"`)
    await checkIt?.(asked)
    return allowed
  } catch (error) {
    // A failure of storage is not a refusal.
    if (error instanceof StatusError && error.status.code < 500) return denied(error)
    throw error
  }
}

function refuse({ attributes }: Asked, why: string): never {
  throw forbid(attributes, why)
}

function checkPods(asked: Asked): void | Promise<void> {
  const { subresource } = asked.attributes
  switch (subresource) {
    case '':
      return checkPod(asked)
    case 'status':
      return checkPodStatus(asked)
    case 'eviction':
      return checkEviction(asked)
    default:
      return refuse(asked, `unexpected pod subresource "${subresource}", only 'status' and 'eviction' are allowed`)
  }
}

function checkPod(asked: Asked): void | Promise<void> {
  const { attributes, node } = asked
  switch (attributes.operation) {
    case 'CREATE':
      return checkMirrorPod(asked)
    case 'DELETE': {
      // The gateway passes the deleted object.
      const { oldObject } = objectsOf('core/v1.Pod', attributes)
      if (oldObject?.spec.nodeName !== node) refuse(asked, `node "${node}" can only delete pods with spec.nodeName set to itself`)
      return
    }
    default:
      return refuse(asked, `unexpected operation "${attributes.operation}", node "${node}" can only create and delete mirror pods`)
  }
}

/** A node creates mirror Pods for its static Pods, which must not grant it access to anything. */
async function checkMirrorPod(asked: Asked): Promise<void> {
  const { attributes, node, names } = asked
  const pod = podOf(attributes)
  const { annotations = {}, ownerReferences = [] } = pod.metadata
  const mirror = domainLabel(names, 'config.mirror')
  const only = `node "${node}" can only create`
  if (annotations[mirror] === undefined) refuse(asked, `pod does not have "${mirror}" annotation, ${only} mirror pods`)
  if (pod.spec?.nodeName !== node) refuse(asked, `${only} pods with spec.nodeName set to itself`)
  const [owner, ...others] = ownerReferences
  if (others.length > 0) refuse(asked, `${only} pods with a single owner reference set to itself`)
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    return refuse(asked, `${only} pods with an owner reference set to itself`)
  }
  if (owner.controller !== true) refuse(asked, `${only} pods with a controller owner reference set to itself`)
  if (owner.blockOwnerDeletion === true) refuse(asked, `node "${node}" must not set blockOwnerDeletion on an owner reference`)
  const { uid } = parseStored('core/v1.Node', await latest(asked, { prefix: 'core/nodes', name: node, resource: 'nodes' })).metadata
  if (owner.uid !== uid) refuse(asked, `node ${node} UID mismatch: expected ${owner.uid} got ${uid}`)
  const cannot = `node "${node}" can not create pods that reference`
  if ((pod.spec.serviceAccountName ?? '') !== '') refuse(asked, `${cannot} a service account`)
  if (usesSecrets(pod)) refuse(asked, `${cannot} secrets`)
  if (usesConfigMaps(pod)) refuse(asked, `${cannot} configmaps`)
  if ((pod.spec.volumes ?? []).some(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined))
    refuse(asked, `${cannot} persistentvolumeclaims`)
}

function checkPodStatus(asked: Asked): void {
  const { attributes, node } = asked
  if (attributes.operation !== 'UPDATE') refuse(asked, `unexpected operation "${attributes.operation}"`)
  const { oldObject: before, object: after } = objectsOf('core/v1.Pod', attributes)
  if (before?.spec.nodeName !== node) refuse(asked, `node "${node}" can only update pod status for pods with spec.nodeName set to itself`)
  if (!jsonEqual(before.metadata.labels ?? {}, after?.metadata.labels ?? {}))
    refuse(asked, `node "${node}" cannot update labels through pod status`)
  if (!jsonEqual(before.status.resourceClaimStatuses ?? [], after?.status.resourceClaimStatuses ?? []))
    refuse(asked, `node "${node}" cannot update resource claim statues`)
  if (!jsonEqual(before.status.extendedResourceClaimStatus ?? null, after?.status.extendedResourceClaimStatus ?? null))
    refuse(asked, `node "${node}" cannot update extended resource claim status`)
}

async function checkEviction(asked: Asked): Promise<void> {
  const { attributes, node } = asked
  if (attributes.operation !== 'CREATE') refuse(asked, `unexpected operation ${attributes.operation}`)
  const name = attributes.name !== '' ? attributes.name : (metadataOf(attributes.object).name ?? '')
  if (name === '') refuse(asked, 'could not determine pod from request data')
  const pod = await latestPod(asked, name)
  if (pod.spec?.nodeName !== node) refuse(asked, `node ${node} can only evict pods with spec.nodeName set to itself`)
}

function checkNode(asked: Asked): void {
  const { attributes, node, names } = asked
  const { name, operation } = attributes
  if (name !== node) refuse(asked, `node "${node}" is not allowed to modify node "${name}"`)
  const { oldObject: before, object: after } = objectsOf('core/v1.Node', attributes)
  const source = after?.spec.configSource
  const labels = forbiddenLabels(after?.metadata.labels ?? {}, before?.metadata.labels ?? {}, names)
  switch (operation) {
    case 'CREATE':
      if (source != null) refuse(asked, `node "${node}" is not allowed to create pods with a non-nil configSource`)
      if (labels.length > 0) refuse(asked, `node "${node}" is not allowed to set the following labels: ${labels.join(', ')}`)
      return
    case 'UPDATE':
      if (source != null && !jsonEqual(source, before?.spec.configSource)) {
        refuse(asked, `node "${node}" is not allowed to update configSource to a new non-nil configSource`)
      }
      if (!jsonEqual(after?.spec.taints ?? [], before?.spec.taints ?? [])) refuse(asked, `node "${node}" is not allowed to modify taints`)
      if (labels.length > 0) refuse(asked, `is not allowed to modify labels: ${labels.join(', ')}`)
      return
  }
}

function checkClaim(asked: Asked): void {
  const { attributes, node } = asked
  if (attributes.subresource !== 'status') refuse(asked, 'may only update PVC status')
  if (attributes.operation !== 'UPDATE') refuse(asked, `unexpected operation "${attributes.operation}"`)
  const { oldObject, object } = objectsOf('core/v1.PersistentVolumeClaim', attributes)
  const before = withoutNodesPart(oldObject)
  const after = withoutNodesPart(object)
  const changed = Object.keys({ ...before, ...after }).filter((field) => !jsonEqual(before[field], after[field]))
  if (changed.length === 0) return
  refuse(
    asked,
    `node "${node}" is not allowed to update fields other than status.capacity and status.conditions: ${changed.sort().join(', ')}`,
  )
}

/** The changes of a claim that a node must not make, by field. */
function withoutNodesPart(claim: BuiltIn<'core/v1.PersistentVolumeClaim'> | undefined): Readonly<Record<string, unknown>> {
  if (claim === undefined) return {}
  const { metadata, status = {}, spec } = claim
  const { resourceVersion: _resourceVersion, managedFields: _managedFields, ...ownMetadata } = metadata
  const { capacity: _capacity, conditions: _conditions, ...ownStatus } = status
  return { metadata: ownMetadata, spec, status: ownStatus }
}

/** A node requests tokens only for Pods that run on it. */
async function checkToken(asked: Asked): Promise<void> {
  const { attributes, node } = asked
  if (attributes.operation !== 'CREATE' || attributes.subresource !== 'token') return
  const request = tokenRequestIn(attributes)
  const bound = request?.spec.boundObjectRef
  if (bound?.apiVersion !== 'v1' || bound.kind !== 'Pod' || !bound.name) return refuse(asked, 'node requested token not bound to a pod')
  if (!bound.uid) refuse(asked, 'node requested token with a pod binding without a uid')
  const pod = await latestPod(asked, bound.name)
  if (pod.metadata.uid !== bound.uid) {
    const mismatch = `the UID in the bound object reference (${bound.uid}) does not match the UID in record`
    refuse(asked, `${mismatch}. The object might have been deleted and then recreated`)
  }
  if (pod.spec?.nodeName !== node) refuse(asked, 'node requested token bound to a pod scheduled on a different node')
  if (asked.areAudiencesChecked) await checkAudience(asked, pod, request?.spec.audiences ?? [])
}

function tokenRequestIn({ object, operation, subresource }: Attributes): BuiltIn<'authentication/v1.TokenRequest'> | undefined {
  if (operation !== 'CREATE' || subresource !== 'token') return undefined
  return isOfType('authentication/v1.TokenRequest', object) ? object : undefined
}

/** A node requests the audiences that the volumes of the Pod and the drivers of these volumes name. */
async function checkAudience(asked: Asked, pod: Pod, audiences: readonly string[]): Promise<void> {
  const [audience = '', ...others] = audiences
  if (others.length > 0) refuse(asked, 'node may only request 0 or 1 audiences')
  const quoted = JSON.stringify(audience)
  const faults: string[] = []
  for (const volume of pod.spec.volumes ?? []) {
    const tokens = (volume.projected?.sources ?? []).flatMap(({ serviceAccountToken }) => serviceAccountToken ?? [])
    if (tokens.some((token) => (token.audience ?? '') === audience)) return
    try {
      const driver = await driverOf(asked, pod, volume)
      if (driver !== undefined && (await audiencesOf(asked, driver)).includes(audience)) return
    } catch (error) {
      if (!(error instanceof StatusError) || error.status.code >= 500) throw error
      faults.push(error.message)
    }
  }
  if (faults.length > 0) refuse(asked, `error validating audience ${quoted}: ${faults.length > 1 ? `[${faults.join(', ')}]` : faults[0]}`)
  if (asked.isPermitted) return
  const who = `${asked.attributes.user.name} is not authorized to request tokens for`
  refuse(
    asked,
    asked.level < audienceTextSince ? `audience ${quoted} not found in pod spec volume, ${who} this audience` : `${who} audience ${quoted}`,
  )
}

/** The drivers of the volumes of former built-in plugins. */
const drivers = {
  awsElasticBlockStore: 'ebs.csi.aws.com',
  azureDisk: 'disk.csi.azure.com',
  azureFile: 'file.csi.azure.com',
  cinder: 'cinder.csi.openstack.org',
  gcePersistentDisk: 'pd.csi.storage.gke.io',
  portworxVolume: 'pxd.portworx.com',
  vsphereVolume: 'csi.vsphere.vmware.com',
} as const

/** The CSI driver of a volume of a Pod; undefined for other volumes. */
async function driverOf(asked: Asked, pod: Pod, volume: NonNullable<PodSpec['volumes']>[number]): Promise<string | undefined> {
  const { ephemeral, persistentVolumeClaim } = volume
  const claim = ephemeral === undefined ? persistentVolumeClaim?.claimName : `${pod.metadata.name}-${volume.name}`
  if (claim === undefined) return volume.csi?.driver ?? formerDriver(volume)
  const { namespace } = asked.attributes
  const ofClaim = { prefix: 'core/persistentvolumeclaims', namespace, name: claim, resource: 'persistentvolumeclaim' }
  const { spec } = parseStored('core/v1.PersistentVolumeClaim', await latest(asked, ofClaim))
  const ofVolume = { prefix: 'core/persistentvolumes', name: spec.volumeName ?? '', resource: 'persistentvolume' }
  const { spec: source } = parseStored('core/v1.PersistentVolume', await latest(asked, ofVolume))
  return source.csi?.driver ?? formerDriver(source)
}

function formerDriver(source: object): string | undefined {
  return Object.entries(drivers).find(([field]) => field in source)?.[1]
}

async function audiencesOf(asked: Asked, name: string): Promise<readonly string[]> {
  const group = domainGroup(asked.names, 'storage')
  const place = { prefix: `${group}/csidrivers`, name, group, resource: 'csidriver' }
  const { spec } = parseStored('storage/v1.CSIDriver', await latest(asked, place))
  return (spec.tokenRequests ?? []).map(({ audience }) => audience)
}

function checkLease(asked: Asked): void {
  const { attributes, node, names } = asked
  if (attributes.namespace !== names.nodeLeaseNamespace) {
    refuse(asked, `can only access leases in the "${names.nodeLeaseNamespace}" system namespace`)
  }
  if (attributes.name !== node) refuse(asked, 'can only access node lease with the same name as the requesting node')
}

function checkCsiNode(asked: Asked): void {
  if (asked.attributes.name !== asked.node) refuse(asked, 'can only access CSINode with the same name as the requesting node')
}

/** The authorizer checks slices of other nodes, but does not know the object of a create. */
function checkSlice(asked: Asked): void {
  const { attributes, node } = asked
  const [verb, object] = attributes.operation === 'CREATE' ? ['create', attributes.object] : ['delete', attributes.oldObject]
  if (attributes.operation === 'UPDATE') return
  if (nodeNameIn(object) !== node) refuse(asked, `can only ${verb} ResourceSlice with the same NodeName as the requesting node`)
}

/** In each version of the kind. */
function nodeNameIn(slice: unknown): unknown {
  const spec = isJsonObject(slice) ? slice['spec'] : undefined
  return isJsonObject(spec) ? spec['nodeName'] : undefined
}

/** The certificate request that a write makes; undefined for other writes. */
function requestIn({ object, operation, subresource }: Attributes): BuiltIn<'certificates/v1beta1.PodCertificateRequest'> | undefined {
  if (operation !== 'CREATE' || subresource !== '') return undefined
  return isPodCertificateRequest(object) ? object : undefined
}

/** The permission for a certificate of a signer, or for a token for an audience, that no volume of the Pod names. */
function rightBeyondVolumes(attributes: Attributes, areAudiencesChecked: boolean): AdmissionAccess | undefined {
  const { group, version, namespace } = attributes
  const to = (what: string, resource: string, name: string): AdmissionAccess => {
    return { verb: `request-serviceaccounts-${what}`, group, version, resource, subresource: '', namespace, name }
  }
  const certificate = requestIn(attributes)?.spec
  if (certificate !== undefined)
    return to('podcertificate-signer', certificate.signerName.replaceAll('/', ':'), certificate.serviceAccountName)
  const token = areAudiencesChecked ? tokenRequestIn(attributes) : undefined
  return token && to('token-audience', token.spec.audiences?.[0] ?? '', attributes.name)
}

/** A node requests certificates for the Pods that run on it. A refusal that may be based on old data is an error to retry. */
async function checkCertificateRequest(asked: Asked): Promise<void> {
  const { attributes, node, isPermitted } = asked
  const { operation, subresource, namespace } = attributes
  if (operation !== 'CREATE') return refuse(asked, `unexpected operation ${operation}`)
  const request = requestIn(attributes)
  if (request === undefined) return refuse(asked, `unexpected subresource ${subresource}`)
  const { spec } = request
  if (spec.nodeName !== node) {
    const given = `PodCertificateRequest.Spec.NodeName=${JSON.stringify(spec.nodeName)}`
    refuse(asked, `${given}, which is not the requesting node ${JSON.stringify(node)}`)
  }
  const podName = JSON.stringify(`${namespace}/${spec.podName}`)
  const { metadata: ofNode } = parseStored('core/v1.Node', await latest(asked, { prefix: 'core/nodes', name: node, resource: 'nodes' }))
  if (ofNode.uid !== spec.nodeUID) {
    throw internal(
      `PodCertificateRequest for pod ${podName} names node UID "${spec.nodeUID}", inconsistent with the running node ("${ofNode.uid}")`,
    )
  }
  const pod = await latestPod(asked, spec.podName)
  if (pod.metadata.uid !== spec.podUID) {
    const mismatch = `contains pod UID ("${spec.podUID}") which differs from running pod "${pod.metadata.uid}"`
    throw internal(`PodCertificateRequest for pod ${podName} ${mismatch}`)
  }
  if (pod.spec.nodeName !== node) refuse(asked, `pod ${podName} is not running on node "${node}" named in the PodCertificateRequest`)
  if (pod.metadata.annotations?.[domainLabel(asked.names, 'config.mirror')] !== undefined) refuse(asked, `pod ${podName} is a mirror pod`)
  const own = pod.spec.serviceAccountName ?? ''
  if (own !== spec.serviceAccountName) {
    const differs = `contains serviceAccountName ("${spec.serviceAccountName}") that differs from running pod ("${own}")`
    refuse(asked, `PodCertificateRequest for pod ${podName} ${differs}`)
  }
  const place = { prefix: 'core/serviceaccounts', namespace, name: spec.serviceAccountName, resource: 'serviceaccounts' }
  const { metadata: ofAccount } = parseStored('core/v1.ServiceAccount', await latest(asked, place))
  if (ofAccount.uid !== spec.serviceAccountUID) {
    const differs = `names service account UID "${spec.serviceAccountUID}", which differs from the running service account ("${ofAccount.uid}")`
    throw internal(`PodCertificateRequest for pod ${podName} ${differs}`)
  }
  if (isPermitted || asksSigner(pod, spec.signerName)) return
  refuse(asked, `pod ${podName} does not mount a podCertificate projected volume for signer ${JSON.stringify(spec.signerName)}`)
}

function asksSigner({ spec }: Pod, signerName: string): boolean {
  const sources = (spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? [])
  return sources.some(({ podCertificate }) => podCertificate?.signerName === signerName)
}

async function latestPod(asked: Asked, name: string): Promise<Pod> {
  return parseStored(
    'core/v1.Pod',
    await latest(asked, { prefix: 'core/pods', namespace: asked.attributes.namespace, name, resource: 'pods' }),
  )
}

interface Place {
  readonly prefix: string
  readonly namespace?: string
  readonly name: string
  readonly group?: string
  readonly resource: string
}

/** Nodes request certificates and tokens rarely, so nothing is cached for them. */
async function latest({ storage }: Asked, { prefix, namespace, name, group = '', resource }: Place): Promise<Uint8Array> {
  const { entry } = await storage.get({ key: objectKey(prefix, namespace, name), read: { kind: 'latest' } })
  if (entry === undefined) throw notFound({ group, resource }, name)
  return entry.value
}

type Labels = Readonly<Record<string, string>>

/** Changed labels that a node must not set on itself, as they select the workloads scheduled to it. */
function forbiddenLabels(after: Labels, before: Labels, names: Names): readonly string[] {
  const changed = new Set([...Object.keys(after), ...Object.keys(before)].filter((label) => after[label] !== before[label]))
  return [...changed].filter((label) => isForbidden(label, names)).sort()
}

function isForbidden(label: string, names: Names): boolean {
  const at = label.indexOf('/')
  const domain = at < 0 ? '' : label.slice(0, at)
  if (isWithin(domain, `node-restriction.${names.labelDomain}`)) return true
  if (!isWithin(domain, names.labelDomain) && !isWithin(domain, names.apiDomain)) return false
  return !isNodesOwn(label, domain, names)
}

/** True for labels that nodes may set on themselves. */
function isNodesOwn(label: string, domain: string, names: Names): boolean {
  if (['kubelet', 'node'].some((word) => isWithin(domain, `${word}.${names.labelDomain}`))) return true
  const own = [
    ...['hostname', 'os', 'arch'].map((word) => domainLabel(names, word)),
    ...['instance-type', 'os', 'arch'].map((word) => subdomainLabel(names, 'beta', word)),
    ...['topology', 'failure-domain.beta'].flatMap((place) => ['zone', 'region'].map((word) => subdomainLabel(names, place, word))),
  ]
  return own.includes(label)
}

function isWithin(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`)
}

/** True if a Pod uses a Secret. */
function usesSecrets(pod: Pod): boolean {
  return (pod.spec.imagePullSecrets ?? []).length > 0 || refersTo(pod, 'secret') || (pod.spec.volumes ?? []).some(isOfSecret)
}

/** Azure files always have a Secret; other volumes name their Secret. */
function isOfSecret(volume: NonNullable<PodSpec['volumes']>[number]): boolean {
  if (volume.secret !== undefined || volume.azureFile !== undefined || volume.csi?.nodePublishSecretRef !== undefined) return true
  return Object.values(volume).some((source) => typeof source === 'object' && source !== null && 'secretRef' in source)
}

/** True if a Pod uses a ConfigMap. */
function usesConfigMaps(pod: Pod): boolean {
  return refersTo(pod, 'configMap') || (pod.spec.volumes ?? []).some(({ configMap }) => configMap !== undefined)
}

/** True if the environment of a container or a projected volume has such a source. */
function refersTo({ spec }: Pod, kind: 'secret' | 'configMap'): boolean {
  const { containers, initContainers, ephemeralContainers, volumes = [] } = spec
  const all: readonly Pick<Container, 'env' | 'envFrom'>[] = [containers, initContainers, ephemeralContainers].flatMap((list) => list ?? [])
  const isInVariables = all.some(({ env = [] }) => env.some(({ valueFrom }) => valueFrom?.[`${kind}KeyRef`] !== undefined))
  const isWhole = all.some(({ envFrom = [] }) => envFrom.some((source) => source[`${kind}Ref`] !== undefined))
  return isInVariables || isWhole || volumes.some(({ projected }) => projected?.sources?.some((source) => source[kind] !== undefined))
}
