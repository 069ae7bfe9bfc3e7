import { EventRecorder as ClientEventRecorder, type EventRecorderOptions } from '@orch/client'
import { type Clock, type Log, sleep } from '@orch/platform'

/** The dependencies of a controller's recorder. */
interface Dependencies extends Pick<EventRecorderOptions, 'client' | 'random' | 'signal'> {
  readonly clock: Clock
  readonly log: Log
}

/** Writes the events of one component, with the controllers' clock. */
export class EventRecorder extends ClientEventRecorder {
  constructor(component: string, { clock, ...rest }: Dependencies) {
    super({ component }, { ...rest, now: () => clock.now(), sleep: (delayMs, signal) => sleep(clock, delayMs, signal) })
  }
}
