import { createWorkqueue, onAbort, type Timer, type Workqueue, type WorkqueueMetrics, type WorkqueueOptions } from '@orch/platform'
import type { Surroundings } from '../surroundings.ts'
import type { ApiServices } from './api-services.ts'

/** The dependencies of a queue of APIServices. */
export interface QueueNeeds extends Pick<Surroundings, 'clock' | 'log' | 'random'> {
  readonly queues: WorkqueueMetrics
  readonly apiServices: ApiServices
}

interface QueueOptions extends Pick<WorkqueueOptions, 'name' | 'work' | 'signal' | 'workersMax' | 'backoffFirstMs'> {
  /** The message of the log for a failure. */
  readonly problem: string
}

/** A queue of names of APIServices. */
export function queueApiServices({ queues: metrics, clock, log, random }: QueueNeeds, { problem, ...options }: QueueOptions): Workqueue {
  const onError = (apiService: string, err: unknown) => log.debug({ apiService, err }, problem)
  return createWorkqueue({ ...options, metrics, clock, random, onError })
}

const againMs = 60_000

/** A queue of remote APIServices, each after its changes and once a minute. */
export function queueRemotes(needs: QueueNeeds, options: QueueOptions): Workqueue {
  const { apiServices, clock } = needs
  const queue = queueApiServices(needs, options)
  let rounds: Timer | undefined
  const endRounds = () => {
    rounds?.cancel()
    rounds = undefined
  }
  const addAll = () => {
    for (const { name } of apiServices.remotes.values()) queue.add(name)
  }
  apiServices.onChange(({ name, isRemote }) => {
    if (!isRemote) return
    queue.add(name)
    if (apiServices.remotes.size === 0) endRounds()
    else if (!options.signal.aborted) rounds ??= clock.every(againMs, addAll)
  })
  onAbort(options.signal, endRounds)
  return queue
}
