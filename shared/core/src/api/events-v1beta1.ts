import { inVersion } from '../description/in-version.ts'
import { eventsV1 } from './events-v1.ts'

/** The types of events/v1beta1, which are those of v1. */
export const eventsV1beta1 = inVersion(eventsV1, { from: 'events/v1', to: 'events/v1beta1' })
