import type { Names } from '../names.ts'
import type { Pod } from '../workloads/pods.ts'
import { readAnnotations } from './script-annotations.ts'
import { type ContainerScript, joined, type PodScript, type ScriptLayer, type Words } from './script-model.ts'

/** The duration of a run that must end but has no duration. */
const shortRunMs = 1000
/** Helm waits for the end of a Pod with this annotation. */
const helmHook = 'helm.sh/hook'

/** The image whose program waits for its end. */
const pauseImage = /(?:^|\/)pause(?:[:@]|$)/

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
  const pauses = new Set((spec.containers ?? []).filter(({ image = '' }) => pauseImage.test(image)).map(({ name }) => name))
  const containers = new Map<string, ContainerScript>()
  for (const name of all) {
    const isInit = initNames.has(name) && !sidecars.has(name)
    const isEndless = sidecars.has(name) || ephemeralNames.includes(name) || pauses.has(name)
    const runMs = isInit ? 0 : (isOfJob || isHook) && !isEndless ? shortRunMs : undefined
    containers.set(name, toScript(wordsOf(name, { words, layers, isMain: mainNames.has(name) }), runMs))
  }
  return { containers, problems }
}

function toScript(
  { runMs, exitCodes, runs, pull, startMs = 0, shutdown, turns, ...rest }: Words,
  usualRunMs: number | undefined,
): ContainerScript {
  const given = runs ?? (exitCodes ?? [undefined]).map((exitCode) => ({ ...(runMs !== undefined && { durationMs: runMs }), exitCode }))
  return {
    ...{ usage: [], files: new Map(), exec: [], ports: new Map(), startMs, ...rest },
    pull: { ms: 0, failures: 0, ...pull },
    runs: given.map(({ durationMs, exitCode, ...others }) => ({
      durationMs: durationMs ?? usualRunMs ?? (exitCode === undefined ? Number.POSITIVE_INFINITY : shortRunMs),
      exitCode: exitCode ?? 0,
      ...others,
    })),
    shutdown: { ms: 0, ...shutdown },
    turns: { startup: [], readiness: [], liveness: [], ...turns },
  }
}
