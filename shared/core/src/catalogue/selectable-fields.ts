/** Values by which field selectors choose among the stored objects of one kind. */
interface SelectableFields {
  /** Accepted label → label under which the stored object is looked at. */
  readonly labels: Readonly<Record<string, string>>
  /** The values of a stored object; a label that it lacks counts as `''`. */
  readonly fieldsOf: (object: Readonly<Record<string, unknown>>) => Record<string, string>
}

const common = { 'metadata.name': 'metadata.name', 'metadata.namespace': 'metadata.namespace' }

const same = (...labels: readonly string[]): Record<string, string> => Object.fromEntries(labels.map((label) => [label, label]))

const involved = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']

/** By type of the resource that is asked. Kinds without an entry have name and namespace. */
const byType: Readonly<Record<string, SelectableFields>> = {
  'core/v1.Pod': {
    labels: {
      ...common,
      ...same('spec.nodeName', 'spec.restartPolicy', 'spec.schedulerName', 'spec.serviceAccountName'),
      ...same('status.phase', 'status.podIP', 'status.podIPs', 'status.nominatedNodeName'),
      'spec.host': 'spec.nodeName',
    },
    fieldsOf: (pod) => ({
      ...textsAt(pod, 'spec', ['nodeName', 'restartPolicy', 'schedulerName', 'serviceAccountName']),
      ...textsAt(pod, 'status', ['phase', 'nominatedNodeName']),
      'status.podIP': firstPodIp(pod),
    }),
  },
  'core/v1.Node': {
    labels: same('metadata.name', 'spec.unschedulable'),
    fieldsOf: (node) => ({ 'spec.unschedulable': String(memberOf(node['spec'], 'unschedulable') === true) }),
  },
  'core/v1.ReplicationController': {
    labels: { ...common, ...same('status.replicas') },
    fieldsOf: (controller) => ({ 'status.replicas': String(memberOf(controller['status'], 'replicas') ?? 0) }),
  },
  'core/v1.Event': {
    labels: {
      ...common,
      ...same(...involved.map((name) => `involvedObject.${name}`)),
      ...same('reason', 'reportingComponent', 'source', 'type'),
    },
    fieldsOf: (event) => ({
      ...textsAt(event, 'involvedObject', involved),
      reason: textOf(event['reason']),
      type: textOf(event['type']),
      reportingComponent: textOf(event['reportingComponent']),
      source: textOf(memberOf(event['source'], 'component')) || textOf(event['reportingComponent']),
    }),
  },
  'core/v1.Namespace': {
    labels: same('metadata.name', 'status.phase'),
    fieldsOf: (namespace) => textsAt(namespace, 'status', ['phase']),
  },
  'core/v1.Secret': { labels: { ...common, ...same('type') }, fieldsOf: (secret) => ({ type: textOf(secret['type']) }) },
  'batch/v1.Job': {
    labels: { ...common, ...same('status.successful') },
    fieldsOf: (job) => ({ 'status.successful': String(memberOf(job['status'], 'succeeded') ?? 0) }),
  },
  'certificates/v1.CertificateSigningRequest': {
    labels: same('metadata.name', 'spec.signerName'),
    fieldsOf: (request) => textsAt(request, 'spec', ['signerName']),
  },
}

/** Events of the newer group are kept as core ones, under the core names of the same facts. */
const eventLabels: Readonly<Record<string, string>> = {
  ...common,
  ...same('reason', 'type'),
  ...Object.fromEntries(involved.map((name) => [`regarding.${name}`, `involvedObject.${name}`])),
  reportingController: 'reportingComponent',
}

const nothingMore = (): Record<string, string> => ({})

/** Which field labels a resource of this type accepts, and what they stand for in storage. */
export function fieldLabelsOf(type: string): Readonly<Record<string, string>> {
  return type === 'events/v1.Event' ? eventLabels : (byType[type]?.labels ?? common)
}

/** The selectable fields of a stored object of this type, metadata included. */
export function selectableFieldsOf(storedType: string): (object: Readonly<Record<string, unknown>>) => Record<string, string> {
  const more = byType[storedType]?.fieldsOf ?? nothingMore
  return (object) => ({ ...textsAt(object, 'metadata', ['name', 'namespace']), ...more(object) })
}

function textsAt(object: Readonly<Record<string, unknown>>, parent: string, names: readonly string[]): Record<string, string> {
  const source = object[parent]
  const result: Record<string, string> = {}
  for (const name of names) {
    const text = textOf(memberOf(source, name))
    if (text !== '') result[`${parent}.${name}`] = text
  }
  return result
}

function firstPodIp(pod: Readonly<Record<string, unknown>>): string {
  const addresses = memberOf(pod['status'], 'podIPs')
  return Array.isArray(addresses) ? textOf(memberOf(addresses[0], 'ip')) : ''
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
