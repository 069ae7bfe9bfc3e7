import { defineTypes, field, int32, microTime, object, pointer, ref, required, string, struct, time } from '../description/define.ts'
import { objectList } from './common.ts'

/** The types of events/v1. */
export const eventsV1 = defineTypes({
  Event: object('A note that something happened to an object. Events are kept for a short time and are for information only.', () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1, keepEmpty: true, doc: 'Standard metadata of the event.' }),
    eventTime: required(microTime(), { tag: 2, doc: 'Time of the first occurrence. Required.' }),
    series: pointer(ref('events/v1.EventSeries'), { tag: 3, doc: 'Set if the event counts several occurrences.' }),
    reportingController: field(string(), {
      tag: 4,
      doc: 'Name of the controller that reports the event, such as a name with a domain prefix.',
    }),
    reportingInstance: field(string(), { tag: 5, doc: 'Instance of the controller that reports the event.' }),
    action: field(string(), { tag: 6, doc: 'Action that was taken or failed for the object.' }),
    reason: field(string(), { tag: 7, doc: 'Reason of the action in one word, at most 128 characters.' }),
    regarding: field(ref('core/v1.ObjectReference'), { tag: 8, doc: 'The object that the event is about.' }),
    related: pointer(ref('core/v1.ObjectReference'), { tag: 9, doc: 'A second object, if the action involves one.' }),
    note: field(string(), { tag: 10, doc: 'Description for people. At most 1 kB.' }),
    type: field(string(), { tag: 11, doc: 'Normal or Warning. Other values may be added in future.' }),
    deprecatedSource: field(ref('core/v1.EventSource'), { tag: 12, doc: 'Source of the event in the older API.' }),
    deprecatedFirstTimestamp: field(time(), { tag: 13, doc: 'First time of the event in the older API.' }),
    deprecatedLastTimestamp: field(time(), { tag: 14, doc: 'Last time of the event in the older API.' }),
    deprecatedCount: field(int32(), { tag: 15, doc: 'Count of the event in the older API.' }),
  })),
  EventList: objectList('events/v1.Event'),
  EventSeries: struct('Number of occurrences of an event, and the time of the last one.', () => ({
    count: required(int32(), { tag: 1, doc: 'Number of occurrences of the event.' }),
    lastObservedTime: required(microTime(), { tag: 2, doc: 'Time of the last occurrence of the event.' }),
  })),
})
