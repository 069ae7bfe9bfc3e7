import { scopePrefix } from '@orch/core/contracts'
import {
  type ApiObject,
  checkSubdomain,
  conflict,
  type FieldError,
  invalid,
  notFound,
  printTime,
  toInstant,
  withCondition,
} from '@orch/core/meta'
import { type BuiltIn, invalidValue, requireType } from '@orch/core/schema'
import { type BodyParts, type GatewayRequest, readBody } from '../request/index.ts'
import type { Target } from '../target/target.ts'
import type { Verb } from '../verbs/verb.ts'
import { admitBody } from '../write/admit-body.ts'
import { type CandidateParts, readCandidate, reportProblems } from '../write/candidate.ts'
import type { Intent } from '../write/draft.ts'
import { type Live, mismatch, uidMismatch } from '../write/live.ts'
import { type OptionsParts, writeOptionsOf } from '../write/options.ts'
import { type WriteParts, write } from '../write/write.ts'
import { requireNameInBody } from './name-in-body.ts'
import { respondCreated } from './respond-kind.ts'

/** The dependencies of a binding. */
export type BindingParts = WriteParts &
  CandidateParts &
  BodyParts &
  OptionsParts & {
    readonly metaVersion: string
  }

type Binding = BuiltIn<'core/v1.Binding'>

/** Binds a pod to a node, by the pod's own path. */
export const bindPod: Verb<BindingParts> = (request, target, parts) => bind(request, target, target, parts)

/** Binds a pod by the collection of bindings; the body names the pod. */
export const createBinding: Verb<BindingParts> = (request, target, parts) => {
  const { resource } = target.served
  const pods = parts.served.find('', 'v1', 'pods')
  if (pods === undefined) throw notFound({ group: '', resource: 'pods' }, '')
  const { kind, group, version, apiVersion, type, readers } = resource
  const subresource = { name: 'binding', kind, group, version, apiVersion, type, readers, verbs: ['create'] }
  const keyPrefix = scopePrefix({ resource: pods.resource.stored.prefix, namespace: target.info.namespace })
  return bind(request, target, { served: pods, info: target.info, subresource, keyPrefix }, parts)
}

async function bind(request: GatewayRequest, source: Target, pod: Target, parts: BindingParts): Promise<void> {
  const options = writeOptionsOf(request, parts, 'CreateOptions')
  const described = source.subresource ?? source.served.resource
  const body = await readBody(request, parts, described)
  if (source.info.name !== '') requireNameInBody(body.value, source.info.name, 'Binding')
  const candidate = readCandidate(source, body, parts)
  reportProblems(described, candidate.problems, options.fieldValidation, (text) => request.warn(text))
  const optionsObject = { kind: 'CreateOptions', apiVersion: parts.metaVersion, fieldManager: options.fieldManager }
  const { object } = candidate
  const createOptions = { isDryRun: options.isDryRun, object: optionsObject }
  const asked = { request, target: source, operation: 'CREATE', described, object, options: createOptions } as const
  const binding = requireType('core/v1.Binding', await admitBody({ ...asked, name: object.metadata.name ?? '' }, parts))
  const name = binding.metadata.name ?? ''
  const errors = validate(binding)
  if (errors.length > 0) throw invalid({ group: '', kind: 'Binding' }, name, errors, parts.level)
  const target = { ...pod, info: { ...pod.info, resource: 'pods', name, subresource: 'binding' } }
  const decide = (live: Live | undefined) => bound(target, binding, live, parts)
  await write({ request, target, name, options, optionsObject, decide, isAdmitted: true }, parts)
  await respondCreated(request, parts)
}

function validate({ metadata, target }: Binding): FieldError[] {
  const errors: FieldError[] = []
  if (!metadata.name) errors.push({ reason: 'FieldValueRequired', field: 'metadata.name', message: 'Required value: name is required' })
  const isNode = !target.kind || target.kind === 'Node'
  if (!isNode) {
    const message = `Unsupported value: ${JSON.stringify(target.kind)}: supported values: "Node", "<empty>"`
    errors.push({ reason: 'FieldValueNotSupported', field: 'target.kind', message })
  }
  if (!target.name) errors.push({ reason: 'FieldValueRequired', field: 'target.name', message: 'Required value' })
  else if (isNode) errors.push(...checkSubdomain(target.name).map((why) => invalidValue('target.name', target.name, why)))
  return errors
}

function bound({ served, info }: Target, { metadata, target }: Binding, live: Live | undefined, parts: BindingParts): Intent {
  if (live === undefined) throw notFound(served.name, info.name)
  const pod = requireType('core/v1.Pod', live.object)
  const { spec, status } = pod
  const refused = (why: string) => conflict({ group: '', resource: 'pods/binding' }, info.name, why)
  const { uid = '', resourceVersion = '' } = pod.metadata
  if (metadata.uid && metadata.uid !== uid) throw uidMismatch(served, info.name, metadata.uid, uid)
  if (metadata.resourceVersion && metadata.resourceVersion !== resourceVersion)
    throw mismatch(served, info.name, { field: 'ResourceVersion', given: metadata.resourceVersion, live: resourceVersion })
  if (pod.metadata.deletionTimestamp != null) throw refused(`pod ${info.name} is being deleted, cannot be assigned to a host`)
  if (spec.nodeName) throw refused(`pod ${info.name} is already assigned to node ${JSON.stringify(spec.nodeName)}`)
  if ((spec.schedulingGates ?? []).length > 0) throw refused(`pod ${info.name} has non-empty .spec.schedulingGates`)
  const { clock, isGateOn } = parts
  const annotations = { ...pod.metadata.annotations, ...metadata.annotations }
  const labels = { ...pod.metadata.labels, ...(isGateOn('PodTopologyLabelsAdmission') ? metadata.labels : undefined) }
  const lastTransitionTime = printTime(toInstant(clock.now()))
  const conditions = withCondition(status.conditions, { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime })
  const { nominatedNodeName: _nominated, ...unnominated } = status
  const object: ApiObject = {
    ...pod,
    metadata: { ...pod.metadata, ...(isEmpty(labels) ? {} : { labels }), ...(isEmpty(annotations) ? {} : { annotations }) },
    spec: { ...spec, nodeName: target.name },
    status: { ...(isGateOn('ClearingNominatedNodeNameAfterBinding') ? unnominated : status), conditions },
  }
  return { kind: 'update', live, candidate: { object, hasBigIntegers: live.hasBigIntegers, body: object, problems: [] } }
}

function isEmpty(map: object): boolean {
  return Object.keys(map).length === 0
}
