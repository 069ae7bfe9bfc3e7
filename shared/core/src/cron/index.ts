export { nextTime } from './next-time.ts'
export { type CronSchedule, findScheduleProblem, parseSchedule } from './schedule.ts'
