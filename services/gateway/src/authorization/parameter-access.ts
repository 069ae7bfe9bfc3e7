import type { Catalogue } from '@orch/core/catalogue'
import { objectKey, type StorageService, type User } from '@orch/core/contracts'
import { readOurObject } from '@orch/core/events'
import { jsonEqual } from '@orch/core/json'
import type { ApiObject, FieldError } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import { isOfType, requireType } from '@orch/core/schema'
import type { Reads } from '../strategies/kind-rules.ts'
import { type Authorizer, decide, isMaster, type ResourceInfoAccess } from './authorizer.ts'

/** The dependencies of checking policies and bindings. */
export interface ParameterParts {
  readonly authorizers: readonly Authorizer[]
  readonly storage: Pick<StorageService, 'get'>
  readonly catalogue: Catalogue
}

/** A write of a policy or a binding. */
interface PolicyWrite {
  readonly user: User
  readonly object: ApiObject
  /** Undefined for a create. */
  readonly live: ApiObject | undefined
}

interface ParamKind {
  readonly apiVersion?: string
  readonly kind?: string
}

/**
 * The server reads the parameters of policies with its own permissions and shows them in messages. So a writer of a policy must be allowed to read all
 * objects of its parameters' kind, and the writer of a binding the objects that it refers to.
 */
export async function unreadableParameters(reads: Reads, write: PolicyWrite, parts: ParameterParts): Promise<readonly FieldError[]> {
  if (isMaster(write.user)) return []
  return reads === 'paramKind' ? checkKind(write, parts) : checkReference(write, parts)
}

async function checkKind({ user, object, live }: PolicyWrite, parts: ParameterParts): Promise<readonly FieldError[]> {
  const paramKind = paramKindOf(object)
  if (paramKind == null || (live !== undefined && jsonEqual(paramKindOf(live), paramKind))) return []
  const access = { ...resourceOf(paramKind, parts.catalogue), verb: 'get', name: '*', namespace: '*' }
  if (await isAllowed(access, user, parts)) return []
  const { kind = '', apiVersion = '' } = paramKind
  const what = `must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`
  return [refusal('spec.paramKind', `user ${printUser(user)} ${what}`)]
}

/** kube-apiserver checks this at every update of a binding with a reference. */
async function checkReference({ user, object }: PolicyWrite, parts: ParameterParts): Promise<readonly FieldError[]> {
  const { paramRef, policyName = '' } = bindingSpecOf(object)
  if (paramRef == null) return []
  const { name = '', namespace = '' } = paramRef
  const verb = name === '' ? 'list' : 'get'
  const policy = await readPolicy(object, policyName, parts)
  const paramKind = policy === undefined ? undefined : paramKindOf(policy)
  const resource = paramKind == null ? anyResource : resourceOf(paramKind, parts.catalogue)
  if (await isAllowed({ ...resource, verb, name, namespace }, user, parts)) return []
  const lacks = `user ${printUser(user)} does not have "${verb}" permission`
  const unknown =
    policy === undefined ? `get policy ${policyName}` : resource.resource === '*' && paramKind ? 'resolve paramKind' : undefined
  const why =
    unknown === undefined
      ? `${lacks} on the object referenced by paramRef`
      : `unable to ${unknown} to determine minimum required permissions and ${lacks} for all groups, versions and resources`
  return [refusal('spec.paramRef', why)]
}

function paramKindOf(policy: ApiObject): ParamKind | undefined {
  if (isOfType('admissionregistration/v1.MutatingAdmissionPolicy', policy)) return policy.spec?.paramKind
  return requireType('admissionregistration/v1.ValidatingAdmissionPolicy', policy).spec?.paramKind
}

function bindingSpecOf(binding: ApiObject) {
  if (isOfType('admissionregistration/v1.MutatingAdmissionPolicyBinding', binding)) return binding.spec ?? {}
  return requireType('admissionregistration/v1.ValidatingAdmissionPolicyBinding', binding).spec ?? {}
}

type AskedResource = Pick<ResourceInfoAccess, 'group' | 'version' | 'resource'>

const anyResource: AskedResource = { group: '*', version: '*', resource: '*' }

/** For an unserved kind, all resources of its group version. */
function resourceOf({ apiVersion = '', kind = '' }: ParamKind, catalogue: Catalogue): AskedResource {
  const slash = apiVersion.indexOf('/')
  const [group, version] = [apiVersion.slice(0, Math.max(0, slash)), apiVersion.slice(slash + 1)]
  return { group, version, resource: catalogue.findKind({ group, version, kind })?.plural ?? '*' }
}

/** The policy that a binding names, of its own sort. */
async function readPolicy({ kind }: ApiObject, name: string, { storage, catalogue }: ParameterParts): Promise<ApiObject | undefined> {
  const plural = kind.startsWith('Mutating') ? 'mutatingadmissionpolicies' : 'validatingadmissionpolicies'
  const key = objectKey(`${domainGroup(catalogue.names, 'admissionregistration')}/${plural}`, '', name)
  const { entry } = await storage.get({ key, read: { kind: 'latest' } })
  return entry === undefined ? undefined : readOurObject(entry.value)
}

async function isAllowed(asked: Omit<ResourceInfoAccess, 'kind' | 'subresource'>, user: User, { authorizers }: ParameterParts) {
  const { kind } = await decide(authorizers, user, { kind: 'resource', subresource: '', ...asked })
  return kind === 'allow'
}

/** A user in the format of a Go struct. */
function printUser({ name, uid, groups, extra }: User): string {
  const keys = Object.keys(extra).sort()
  return `&{${name} ${uid} [${groups.join(' ')}] map[${keys.map((key) => `${key}:[${extra[key]?.join(' ')}]`).join(' ')}]}`
}

function refusal(field: string, why: string): FieldError {
  return { field, reason: 'FieldValueForbidden', message: `Forbidden: ${why}` }
}
