import type { Names } from '../names.ts'
import type { Pod } from '../workloads/pods.ts'
import { readAnnotations } from './script-annotations.ts'
import { type ContainerScript, joined, type PodScript, type ScriptLayer, type Words } from './script-model.ts'

/** The duration of a run that must end but has no duration. */
const shortRunMs = 1000
/** Helm waits for the end of a Pod with this annotation. */
const helmHook = 'helm.sh/hook'

/** The containers of a Pod whose runs and logs no source says anything about. */
export function unscripted(pod: Pod, names: Pick<Names, 'simulationDomain'>, layers: readonly ScriptLayer[]): Set<string> {
  const { spec } = pod
  const mainNames = new Set((spec.containers ?? []).map(({ name }) => name))
  const all = new Set([...mainNames, ...(spec.initContainers ?? []).map(({ name }) => name)])
  const { words } = readAnnotations(pod, all, names)
  return new Set(
    [...all].filter((name) => {
      const { runs, runMs, exitCodes, logs } = wordsOf(name, { words, layers, isMain: mainNames.has(name) })
      return runs === undefined && runMs === undefined && exitCodes === undefined && logs === undefined
    }),
  )
}

interface WordsNeeds {
  /** The words of annotations. */
  readonly words: ReadonlyMap<string, Words>
  readonly layers: readonly ScriptLayer[]
  readonly isMain: boolean
}

function wordsOf(name: string, { words, layers, isMain }: WordsNeeds): Words {
  let found = words.get(name) ?? {}
  for (const layer of layers) {
    if (isMain) found = joined(found, layer.get('*'))
    found = joined(found, layer.get(name))
  }
  return found
}

/** The script of a Pod: its annotations, then layers, of which later ones are stronger. */
export function scriptOf(pod: Pod, names: Pick<Names, 'simulationDomain'>, layers: readonly ScriptLayer[] = []): PodScript {
  const { spec, metadata } = pod
  const initNames = new Set((spec.initContainers ?? []).map(({ name }) => name))
  const mainNames = new Set((spec.containers ?? []).map(({ name }) => name))
  const ephemeralNames = (spec.ephemeralContainers ?? []).map(({ name }) => name)
  const all = new Set([...initNames, ...mainNames, ...ephemeralNames])
  const { words, problems } = readAnnotations(pod, all, names)
  const isOfJob = metadata.ownerReferences?.some(({ kind, controller }) => kind === 'Job' && controller === true) === true
  const isHook = metadata.annotations?.[helmHook] !== undefined && spec.restartPolicy !== 'Always'
  const sidecars = new Set((spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name))
  const containers = new Map<string, ContainerScript>()
  for (const name of all) {
    const isInit = initNames.has(name) && !sidecars.has(name)
    const runMs = isInit ? 0 : (isOfJob || isHook) && !sidecars.has(name) && !ephemeralNames.includes(name) ? shortRunMs : undefined
    containers.set(name, toScript(wordsOf(name, { words, layers, isMain: mainNames.has(name) }), runMs))
  }
  return { containers, problems }
}

function toScript(words: Words, usualRunMs: number | undefined): ContainerScript {
  const {
    pull,
    startMs,
    runMs,
    exitCodes,
    runs,
    shutdown,
    turns,
    asked,
    eviction,
    logs,
    usage = [],
    files = new Map(),
    exec = [],
    ports = new Map(),
  } = words
  const given = runs ?? (exitCodes ?? [undefined]).map((exitCode) => ({ ...(runMs !== undefined && { durationMs: runMs }), exitCode }))
  return {
    pull: { ms: 0, failures: 0, ...pull },
    startMs: startMs ?? 0,
    runs: given.map(({ durationMs, exitCode, ...rest }) => ({
      durationMs: durationMs ?? usualRunMs ?? (exitCode === undefined ? Number.POSITIVE_INFINITY : shortRunMs),
      exitCode: exitCode ?? 0,
      ...rest,
    })),
    shutdown: { ms: 0, ...shutdown },
    turns: { startup: [], readiness: [], liveness: [], ...turns },
    ...(asked && { asked }),
    ...(eviction && { eviction }),
    ...(logs && { logs }),
    usage,
    files,
    exec,
    ports,
  }
}
