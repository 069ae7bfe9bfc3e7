import { EventRecorder as ClientEventRecorder, type EventRecorderOptions } from '@orch/client'
import { eventTurns, sleep } from '@orch/platform'
import type { Surroundings } from '../../surroundings.ts'

/** The dependencies of a controller's recorder. */
type Dependencies = Pick<EventRecorderOptions, 'client' | 'random' | 'signal'> & Pick<Surroundings, 'clock' | 'log'>

/** Writes the events of one component, with the controllers' clock. */
export class EventRecorder extends ClientEventRecorder {
  constructor(component: string, { clock, ...rest }: Dependencies) {
    const turns = eventTurns(clock, rest.signal)
    super({ component }, { ...rest, turns, now: () => clock.now(), sleep: (delayMs, signal) => sleep(clock, delayMs, signal) })
  }
}
