import controllers from './controllers.cjs'

export const { StatusError, connect, done, informer, mapped, own, ownedBy, reconciler, requeueAfter, run, workQueue } = controllers
