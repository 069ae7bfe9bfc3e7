import { field, pointer, required } from '../description/fields.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { string } from '../description/texts.ts'
import { int32, microTime, ref, time } from '../description/values.ts'
import { objectList } from './common.ts'

/** The types of events/v1. */
export const eventsV1 = defineTypes({
  Event: object('A note that something happened to an object. Events are kept for a short time and are for information only.', () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), 1, { keepEmpty: true, doc: 'Standard metadata of the event.' }),
    eventTime: required(microTime(), 2, 'Time of the first occurrence. Required.'),
    series: pointer(ref('events/v1.EventSeries'), 3, 'Set if the event counts several occurrences.'),
    reportingController: field(string(), 4, 'Name of the controller that reports the event, such as a name with a domain prefix.'),
    reportingInstance: field(string(), 5, 'Instance of the controller that reports the event.'),
    action: field(string(), 6, 'Action that was taken or failed for the object.'),
    reason: field(string(), 7, 'Reason of the action in one word, at most 128 characters.'),
    regarding: field(ref('core/v1.ObjectReference'), 8, 'The object that the event is about.'),
    related: pointer(ref('core/v1.ObjectReference'), 9, 'A second object, if the action involves one.'),
    note: field(string(), 10, 'Description for people. At most 1 kB.'),
    type: field(string(), 11, 'Normal or Warning. Other values may be added in future.'),
    deprecatedSource: field(ref('core/v1.EventSource'), 12, 'Source of the event in the older API.'),
    deprecatedFirstTimestamp: field(time(), 13, 'First time of the event in the older API.'),
    deprecatedLastTimestamp: field(time(), 14, 'Last time of the event in the older API.'),
    deprecatedCount: field(int32(), 15, 'Count of the event in the older API.'),
  })),
  EventList: objectList('events/v1.Event'),
  EventSeries: struct('Number of occurrences of an event, and the time of the last one.', () => ({
    count: required(int32(), 1, 'Number of occurrences of the event.'),
    lastObservedTime: required(microTime(), 2, 'Time of the last occurrence of the event.'),
  })),
})
