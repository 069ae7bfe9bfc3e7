/** A V8 profile in the inspector's form. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[]
  readonly samples?: readonly number[] | undefined
  /** Microseconds between a sample and the previous sample. */
  readonly timeDeltas?: readonly number[] | undefined
}

interface ProfileNode {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string }
  readonly children?: readonly number[] | undefined
}

/** The steps on which a process spends its time. */
export const steps = [
  'TLS',
  'HTTP',
  'access',
  'parse',
  'decode',
  'defaults',
  'ownership',
  'admission',
  'validation',
  'encode',
  'patch',
  'handling',
  'rpc',
  'store',
  'feed',
  'delivery',
  'garbage',
  'compile',
  'native',
  'other',
] as const

/** The name of a step. */
export type Step = (typeof steps)[number]

/** The first match counts, so narrower rules come first. Paths are source paths; compiled files are in `dist` and not in `src`. */
const rules: readonly (readonly [RegExp, Step])[] = [
  [/^node:(internal\/)?(tls|_tls|crypto)|^node:internal\/stream_base_commons|^node:net/, 'TLS'],
  [/^node:(internal\/)?http2/, 'rpc'],
  [/^node:(internal\/)?_?http/, 'HTTP'],
  [/\/shared\/platform\/src\/rpc\/|\/@grpc\//, 'rpc'],
  [/\/@nats-io\/|\/shared\/platform\/src\/nats\/|\/storage\/src\/publisher\/|\/watch\/src\/change-source\//, 'feed'],
  [/\/etcd3\/|\/lmdb\/|\/storage\/src\//, 'store'],
  [/\/watch\/src\/|\/gateway\/src\/watch-hub\/|\/gateway\/src\/verbs\/watch|\/shared\/core\/src\/events\//, 'delivery'],
  [/\/shared\/core\/src\/json\/print|\/shared\/core\/src\/(stored|table)\/|\/gateway\/src\/(representations|respond)/, 'encode'],
  [/\/shared\/core\/src\/json\/|\/gateway\/src\/(body|texts)/, 'parse'],
  [/\/shared\/core\/src\/catalogue\/defaults\//, 'defaults'],
  [/\/shared\/core\/src\/apply\/|\/gateway\/src\/write\/(ownership|unchanged)/, 'ownership'],
  [/\/services\/admission\/src\/|\/gateway\/src\/admission\/|\/gateway\/src\/write\/(admission|admit)/, 'admission'],
  [/\/catalogue\/(validation|warnings)\/|\/structural\/(rules|validate|check)|\/shared\/cel\/|\/gateway\/src\/write\/checks/, 'validation'],
  [/\/shared\/core\/src\/(schema|structural|protobuf|conversion|catalogue)\//, 'decode'],
  [/\/shared\/core\/src\/patch\/|\/gateway\/src\/verbs\/(patch|apply)/, 'patch'],
  [/\/gateway\/src\/(authentication|authorization|flow-control|audit|steps)\//, 'access'],
  [/\/gateway\/src\/(exchange|listener|request|dispatch|routes)|\/hono\//, 'HTTP'],
  [/\/gateway\/src\//, 'handling'],
]

/** Frames without a file that V8 itself names. */
const named: Readonly<Record<string, Step>> = { '(garbage collector)': 'garbage', '(program)': 'native' }

/** The step of a function's file; undefined for built-in functions and streams, where the caller decides. */
export function stepOfFile(url: string): Step | undefined {
  const source = url.replace('/dist/', '/src/')
  return rules.find(([pattern]) => pattern.test(source))?.[1]
}

/** Microseconds of each step. A sample counts for the innermost function on its stack whose file belongs to a step. Idle time is left out. */
export function timeBySteps({ nodes, samples = [], timeDeltas = [] }: CpuProfile): Map<Step, number> {
  const stepOf = stepsOfNodes(nodes)
  const times = new Map<Step, number>()
  for (const [index, id] of samples.entries()) {
    const step = stepOf.get(id)
    if (step !== undefined) times.set(step, (times.get(step) ?? 0) + Math.max(0, timeDeltas[index] ?? 0))
  }
  return times
}

function stepsOfNodes(nodes: readonly ProfileNode[]): Map<number, Step> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const stepOf = new Map<number, Step>()
  const [root] = nodes
  if (root === undefined) return stepOf
  const open: (readonly [ProfileNode, Step])[] = [[root, 'other']]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [node, inherited] = next
    const { functionName, url } = node.callFrame
    const step = named[functionName] ?? stepOfFile(url) ?? inherited
    // The profiler takes a while to start.
    if (url === 'node:inspector') continue
    if (functionName !== '(idle)') stepOf.set(node.id, step)
    for (const id of node.children ?? []) {
      const child = byId.get(id)
      if (child !== undefined) open.push([child, step])
    }
  }
  return stepOf
}
