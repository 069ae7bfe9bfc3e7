import { defineTypes, field, int32, list, microTime, object, ref, string, struct, time } from '../description/define.ts'

/** The types of events/v1: one definition each, read by everything that knows a type. */
export const eventsV1 = defineTypes({
  Event: () =>
    object(
      {
        metadata: field(ref('meta/v1.ObjectMeta'), {
          tag: 1,
          keepEmpty: true,
          doc: 'Standard metadata of the event.',
        }),
        eventTime: field(microTime(), { tag: 2, required: true, doc: 'When it was first seen. Required.' }),
        series: field(ref('events/v1.EventSeries'), { tag: 3, pointer: true, doc: 'Set if the event stands for many of its kind.' }),
        reportingController: field(string(), {
          tag: 4,
          doc: 'Name of the controller that reports the event, such as a name with a domain prefix.',
        }),
        reportingInstance: field(string(), { tag: 5, doc: 'Which instance of the controller reports it.' }),
        action: field(string(), { tag: 6, doc: 'What was done or failed in relation to the object.' }),
        reason: field(string(), { tag: 7, doc: 'One word for why it was done, at most 128 characters.' }),
        regarding: field(ref('core/v1.ObjectReference'), { tag: 8, doc: 'The object that the event is about.' }),
        related: field(ref('core/v1.ObjectReference'), { tag: 9, pointer: true, doc: 'A second object, if the action involves one.' }),
        note: field(string(), { tag: 10, doc: 'What happened, for people. At most 1 kB.' }),
        type: field(string(), { tag: 11, doc: 'Normal or Warning. Other values may come.' }),
        deprecatedSource: field(ref('core/v1.EventSource'), { tag: 12, doc: 'What the older form of the event had as its source.' }),
        deprecatedFirstTimestamp: field(time(), { tag: 13, doc: 'What the older form of the event had as its first time.' }),
        deprecatedLastTimestamp: field(time(), { tag: 14, doc: 'What the older form of the event had as its last time.' }),
        deprecatedCount: field(int32(), { tag: 15, doc: 'What the older form of the event had as its count.' }),
      },
      { doc: 'A note that something happened to an object. Events are kept for a short time and are for information only.' },
    ),
  EventList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('events/v1.Event')), { tag: 2, required: true, doc: 'The Event objects of the list.' }),
      },
      { doc: 'A list of Event objects.' },
    ),
  EventSeries: () =>
    struct(
      {
        count: field(int32(), { tag: 1, required: true, doc: 'How often the event was seen.' }),
        lastObservedTime: field(microTime(), { tag: 2, required: true, doc: 'When the event was last seen.' }),
      },
      { doc: 'How often an event has been seen, and when last.' },
    ),
})
