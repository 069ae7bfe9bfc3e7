export type { EventDraft, ObjectReference } from '@orch/client'
