import type { ApiObject } from '../meta/object-meta.ts'
import { domainGroup, type Names } from '../names.ts'
import { logEntriesMax } from './log-lines.ts'
import { pressureTypes } from './node-status.ts'

/** The version of the kinds that script simulated nodes and their Pods. */
export const simulationVersion = 'v1'

type Schema = Readonly<Record<string, unknown>>

/** Maximum number of list entries in a script, which bounds the work per Pod. */
const itemsMax = 1000

const text = (description: string, rest: Schema = {}): Schema => ({ type: 'string', description, ...rest })
const list = (description: string, items: Schema, rest: Schema = {}): Schema => ({
  ...{ type: 'array', description, items, maxItems: itemsMax },
  ...rest,
})
/** An object. The names of its required members end with `!`. */
const object = (description: string, members: Readonly<Record<string, Schema>>, rest: Schema = {}): Schema => {
  const required = Object.keys(members).flatMap((name) => (name.endsWith('!') ? [name.slice(0, -1)] : []))
  const properties = Object.fromEntries(Object.entries(members).map(([name, schema]) => [name.replace('!', ''), schema]))
  return { type: 'object', description, properties, ...(required.length > 0 && { required }), ...rest }
}
const map = (description: string, items: Schema): Schema => ({
  type: 'object',
  description,
  maxProperties: 100,
  additionalProperties: items,
})
const duration = (description: string, others = ''): Schema =>
  text(description, { maxLength: 64, pattern: `^(([0-9]{1,6}([.][0-9]{1,3})?(ms|s|m|h))+|0${others})$` })
const exitCode = (description: string): Schema => ({ type: 'integer', format: 'int32', description, minimum: 0, maximum: 255 })

const labelSelector = object(
  'Labels of the objects that the script is for. Absent: labels do not matter.',
  {
    matchLabels: { type: 'object', description: 'Values that labels must have, by key.', additionalProperties: { type: 'string' } },
    matchExpressions: list(
      'Requirements, all of which must hold.',
      object('A requirement of one label.', {
        'key!': text('The key of the label.'),
        'operator!': text('The relation of the label to the values.', { enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'] }),
        values: list('Values for In and NotIn.', { type: 'string' }),
      }),
    ),
  },
  { 'x-kubernetes-map-type': 'atomic' },
)

const turns = (probe: string): Schema =>
  list(
    `Changes of what the ${probe} probe finds. It passes before the first one.`,
    object('One change.', {
      'at!': duration('Time from the start of the container.'),
      'pass!': { type: 'boolean', description: 'True if calls pass from this time on.' },
      output: text('The text of calls that fail.', { maxLength: 10_240 }),
    }),
  )

const start = object('One run.', {
  runFor: duration(
    'Time to the end, or forever. By default a run with an exit code takes a second, and one without is for ever.',
    '|forever',
  ),
  exitCode: exitCode('The exit code, 0 by default.'),
  reason: text('The reason of the end, such as OOMKilled. By default Completed or Error.', { maxLength: 128, pattern: '^[A-Z][A-Za-z]*$' }),
  message: text('The message of the end.', { maxLength: 4096 }),
})

const logLine = object(
  'A line of the log: at a time from the start, again and again, or at the end of the run. Without these it is written at the start.',
  {
    at: duration('Time from the start of the container.'),
    every: duration(`Time between two such lines; the first one comes after it. \${n} in the text is the number of the line.`),
    end: { type: 'boolean', description: `True to log the line at the end of the run. \${code} in the text is the exit code.` },
    'text!': text('The line.', { maxLength: 4096 }),
    stream: text('The stream of the line, Stdout by default.', { enum: ['Stdout', 'Stderr'] }),
  },
)

const execAnswer = object('The answer to a command.', {
  'command!': list(
    'A pattern with * for each word of the command; a last word * is any number of words.',
    { type: 'string', maxLength: 4096 },
    { minItems: 1, maxItems: 100 },
  ),
  exitCode: exitCode('The exit code, 0 by default.'),
  stdout: text('The text on the standard output.', { maxLength: 65_536 }),
  stderr: text('The text on the standard error.', { maxLength: 65_536 }),
  after: duration('Time to the end of the command.'),
})

const portAnswer = object('The server at a port: fixed answers over HTTP, or a program on a loopback address of the machine.', {
  'port!': { type: 'integer', format: 'int32', minimum: 1, maximum: 65_535, description: 'The number of the port.' },
  http: object('The answer to every request.', {
    status: { type: 'integer', format: 'int32', minimum: 200, maximum: 599, description: 'The status, 200 by default.' },
    contentType: text('The media type, text/plain by default.', { maxLength: 256, pattern: '^[ -~]*$' }),
    body: text('The body.', { maxLength: 65_536 }),
  }),
  forwardTo: text('A loopback address and a port, such as 127.0.0.1:8080.', {
    pattern: '^(127\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}|\\[::1\\]|localhost):[0-9]{1,5}$',
  }),
})

const amount = (description: string): Schema => ({
  ...{ description, 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }], minimum: 0, maxLength: 32 },
  pattern: '^([0-9]+([.][0-9]*)?|[.][0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$',
})

const usage = object('The use from a time on.', {
  at: duration('Time from the start of the container, 0 by default.'),
  cpu: amount('Processor time by time, such as 250m.'),
  memory: amount('Memory, such as 64Mi.'),
})

const container = object(
  'The behaviour of a container. Members that are absent come from the script of the cluster, then from annotations, then from the defaults.',
  {
    'name!': text('The name of the container; * is all of spec.containers that have no entry of their own for the member.', {
      minLength: 1,
    }),
    pull: object('The pull of the image, which is on the node otherwise.', {
      after: duration('Time that one pull takes.'),
      error: text('The text with which pulls fail, such as manifest unknown.', { maxLength: 1024 }),
      times: { type: 'integer', format: 'int32', minimum: 1, description: 'Number of failing pulls. Default: all.' },
    }),
    startAfter: duration('Time from the image to the start.'),
    starts: list('Runs in their order; the last one repeats.', start, { minItems: 1 }),
    ready: turns('readiness'),
    live: turns('liveness'),
    startup: turns('startup'),
    logs: list('Lines of the log. By default there is one at the start and one at the end of a run.', logLine, { maxItems: logEntriesMax }),
    exec: list('Answers to commands, of which the first that matches counts. Other commands are those of every container.', execAnswer, {
      maxItems: 100,
    }),
    ports: list('Ports that accept connections. All others refuse them.', portAnswer, {
      maxItems: 100,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port'],
    }),
    usage: list('The use while the container runs, as metrics show it. Without an entry it is 1m of cpu and 20Mi of memory.', usage, {
      maxItems: 100,
    }),
    files: map('Texts of files by their absolute paths, as commands see them.', { type: 'string', maxLength: 65_536 }),
    evict: object('The eviction of the Pod by its node, which kills all containers.', {
      'after!': duration('Time from the start of the container.'),
      message: text('The message of the Pod. By default the node was low on memory.', { maxLength: 4096 }),
    }),
    shutdown: object('The answer to the signal to stop.', {
      after: duration('Time from the signal to the end.'),
      exitCode: exitCode('The exit code of a container that stops in time, 0 by default.'),
      ignoreTerm: { type: 'boolean', description: 'True if the container runs until the end of the grace period, and ends with 137.' },
    }),
  },
)

const podSpec = object('The Pods that the script is for, and what their containers do.', {
  selector: labelSelector,
  images: list('Patterns with * of images, one of which a container must have.', { type: 'string', minLength: 1, maxLength: 1024 }),
  owner: object('The controller of the Pod.', {
    'kind!': text('Its kind, such as Job or ReplicaSet.', { minLength: 1 }),
    name: text('Its name. Absent: any.'),
  }),
  probability: { type: 'number', minimum: 0, maximum: 1, description: 'Share of the Pods to which the script applies, 1 by default.' },
  'containers!': list('Containers by name.', container, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
})

const podStatus = object('The use of the script.', {
  matchedPods: { type: 'integer', format: 'int32', description: 'Number of Pods on simulated nodes that follow the script.' },
  problem: text('The reason why the script is for no Pod. Absent: there is none.'),
})

const nodeSpec = object('The simulated nodes that the script is for, and how they are.', {
  selector: labelSelector,
  capacity: map(
    'Amounts of resources that the nodes report in addition to their own, or instead of them.',
    amount('The amount of one resource.'),
  ),
  labels: map('Labels for the Nodes. They stay when the script is deleted.', { type: 'string', maxLength: 63 }),
  taints: list(
    'Taints that the Nodes are given. They stay when the script goes.',
    object('A taint.', {
      'key!': text('The key.', { minLength: 1, maxLength: 317 }),
      value: text('The value.', { maxLength: 63 }),
      'effect!': text('The effect.', { enum: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] }),
    }),
    { maxItems: 100 },
  ),
  at: list(
    'Changes by the time since the node has followed the script. A member that a change leaves out stays as it was.',
    object('A change.', {
      'after!': duration('Time from the beginning.'),
      kubelet: text('Stopped for a node that is switched off: its Lease ends.', { enum: ['Running', 'Stopped'] }),
      pressures: list('The conditions of pressure that are true from then on; none is for an empty list.', {
        ...{ type: 'string', enum: [...pressureTypes] },
      }),
      notReady: text('The reason why the node is not ready from then on; it is ready for an empty one.', { maxLength: 1024 }),
      shutdown: list(
        'A graceful shutdown of the machine: it ends its Pods by their priority, lowest first, and is switched off.',
        object('The Pods from a priority on, below that of the next entry.', {
          priority: { type: 'integer', format: 'int32', description: 'The lowest priority, 0 by default.' },
          'gracePeriod!': duration('Time that these Pods have at most.'),
        }),
        { maxItems: 100 },
      ),
    }),
    { maxItems: 100 },
  ),
})

const nodeStatus = object('The use of the script.', {
  matchedNodes: { type: 'integer', format: 'int32', description: 'Number of simulated nodes that follow the script.' },
  problem: text('The reason why the script is for no node. Absent: there is none.'),
})

interface Definition extends ApiObject {
  readonly spec: object
}

interface KindOptions {
  readonly kind: string
  readonly scope: 'Namespaced' | 'Cluster'
  readonly description: string
  readonly spec: Schema
  readonly status: Schema
  readonly columns: readonly object[]
}

const nodeColumns = [{ name: 'Nodes', type: 'integer', jsonPath: '.status.matchedNodes', description: 'Nodes that follow the script.' }]
const podColumns = [{ name: 'Pods', type: 'integer', jsonPath: '.status.matchedPods', description: 'Pods that follow the script.' }]

/** The definitions of script kinds, which exist if nodes are simulated. */
export function scriptKinds(names: Names): Definition[] {
  const more = 'The most specific script of a kind is the one that a Pod follows, from its start on a node to its end.'
  const ofPods = { spec: podSpec, status: podStatus, columns: podColumns }
  const kinds: readonly KindOptions[] = [
    {
      kind: 'PodScript',
      scope: 'Namespaced',
      description: `Behaviour of Pods of its namespace on simulated nodes. ${more}`,
      ...ofPods,
    },
    { kind: 'ClusterPodScript', scope: 'Cluster', description: `Behaviour of Pods on simulated nodes. ${more}`, ...ofPods },
    {
      ...{ kind: 'NodeScript', scope: 'Cluster', spec: nodeSpec, status: nodeStatus, columns: nodeColumns },
      description:
        'State of simulated nodes by time. If several scripts match a node, the most specific one applies, then the first by name.',
    },
  ]
  return kinds.map((options) => definition(names, options))
}

function definition(names: Names, { kind, scope, description, spec, status, columns }: KindOptions): Definition {
  const group = names.simulationDomain
  const singular = kind.toLowerCase()
  const schema = object(description, { 'spec!': spec, status })
  const version = {
    ...{ name: simulationVersion, served: true, storage: true, subresources: { status: {} } },
    additionalPrinterColumns: [...columns, { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }],
    schema: { openAPIV3Schema: schema },
  }
  return {
    apiVersion: `${domainGroup(names, 'apiextensions')}/v1`,
    kind: 'CustomResourceDefinition',
    metadata: { name: `${singular}s.${group}`, annotations: { [`api-approved.${names.labelDomain}`]: 'unapproved, of simulated nodes' } },
    spec: { group, scope, names: { kind, listKind: `${kind}List`, plural: `${singular}s`, singular }, versions: [version] },
  }
}
