/** The loop of controllers, for programs with custom controllers. */
export { type Controller, startControllers } from '../controller.ts'
export type { Reader } from '../informers/shared-informers.ts'
export { type Open, type ReconcilerSpec, reconciler, type Waking } from './reconciler.ts'
export { type Mapped, mapped, type Own, type OwnedBy, own, ownedBy, type Watched } from './watches.ts'
export { type Action, done, type Result, requeueAfter, type World } from './world.ts'
