// One measurement of one JavaScript hook system: `node peer.mjs FOLDER PEER HOOKS BATCHES` prints version and nanoseconds.
//
// Each hook is the same small guard as on Crosier's side: it looks for a text in the tool's input and has no opinion.
// The number is the tenth percentile over batches of one dispatch through all hooks, over a third of a second at least:
// where another tenant shares the core now and then, a median would say who had that luck.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

const [folder, peer, hooksText, batchesText] = process.argv.slice(2);
const [hooks, batches] = [Number(hooksText), Number(batchesText)];
const modules = path.join(path.resolve(folder), 'node_modules');
const SPAN = 333; // milliseconds
const COMMAND = 'cargo test --workspace';
const LINE = 'cat >/dev/null; echo {}';
const version = (name) => JSON.parse(readFileSync(path.join(modules, name, 'package.json'), 'utf8')).version;

function report(name, times) {
  const kept = times.slice(Math.floor(times.length / 10)).sort((a, b) => a - b);
  console.log(JSON.stringify({ version: version(name), ns: kept[Math.floor(kept.length / 10)] }));
}

async function batched(repeat, work) {
  const times = [];
  const end = performance.now() + SPAN;
  while (times.length < batches || performance.now() < end) {
    const start = process.hrtime.bigint();
    for (let at = 0; at < repeat; at++) await work();
    times.push(Number(process.hrtime.bigint() - start) / repeat);
  }
  return times;
}

// Several events, so that no compiler can know the answer beforehand.
const EVENTS = ['', ' -q', ' --all', ' --doc'].map((end) => ({ tool_name: 'Bash', tool_input: COMMAND + end }));

async function tapable() {
  const { SyncBailHook, AsyncSeriesBailHook } = createRequire(path.join(modules, 'x.js'))('tapable');
  const sync = peer === 'tapable-sync';
  const hook = sync ? new SyncBailHook(['event']) : new AsyncSeriesBailHook(['event']);
  for (let number = 0; number < hooks; number++) {
    const word = `rm -rf /${number}`;
    const guard = (event) => (event.tool_input.includes(word) ? { decision: 'deny' } : undefined);
    if (sync) hook.tap(`hook-${number}`, guard);
    else hook.tapPromise(`hook-${number}`, async (event) => guard(event));
  }
  const times = [];
  let denied = 0;
  const end = performance.now() + SPAN;
  while (times.length < batches || performance.now() < end) {
    const start = process.hrtime.bigint();
    if (sync) {
      for (let at = 0; at < 500; at++) if (hook.call(EVENTS[at & 3]) !== undefined) denied++;
    } else {
      for (let at = 0; at < 500; at++) if ((await hook.promise(EVENTS[at & 3])) !== undefined) denied++;
    }
    times.push(Number(process.hrtime.bigint() - start) / 500);
  }
  if (denied) throw new Error('a guard denied');
  report('tapable', times);
}

// The same hooks with what a host of guards needs around them, in as little code as can be: the hooks of this event and
// tool are looked up, a guard that throws is caught, each leaves a report, and the answers become one outcome.
async function tapableHost() {
  const { SyncBailHook, AsyncSeriesBailHook } = createRequire(path.join(modules, 'x.js'))('tapable');
  const sync = peer === 'tapable-sync-host';
  const names = ['event', 'outcome'];
  const plan = sync ? new SyncBailHook(names) : new AsyncSeriesBailHook(names);
  for (let number = 0; number < hooks; number++) {
    const [name, word] = [`hook-${number}`, `rm -rf /${number}`];
    const guard = (event) => (event.tool_input.includes(word) ? { decision: 'deny', reason: 'no' } : undefined);
    const run = (event, outcome) => {
      const own = { hook: name, ran: true, decision: undefined, failure: undefined };
      outcome.reports.push(own);
      try {
        const answer = guard(event);
        own.decision = answer?.decision;
        return answer?.decision === 'deny' ? { ...answer, by: name } : undefined;
      } catch (error) {
        own.failure = String(error);
      }
    };
    if (sync) plan.tap(name, run);
    else plan.tapPromise(name, async (event, outcome) => run(event, outcome));
  }
  const plans = new Map([['PreToolUse', new Map([['Bash', plan]])]]);
  const begin = () => ({ event: 'PreToolUse', decision: undefined, reason: undefined, by: undefined, context: [], reports: [] });
  const find = (event) => plans.get('PreToolUse')?.get(event.tool_name);
  const end = (outcome, answer) => (answer === undefined ? outcome : Object.assign(outcome, answer));
  const fireSync = (event) => {
    const outcome = begin();
    return end(outcome, find(event)?.call(event, outcome));
  };
  const fire = async (event) => {
    const outcome = begin();
    return end(outcome, await find(event)?.promise(event, outcome));
  };
  const times = [];
  let wrong = 0;
  const check = (outcome) => {
    if (outcome.decision || outcome.reports.length !== hooks) wrong++;
  };
  const stop = performance.now() + SPAN;
  while (times.length < batches || performance.now() < stop) {
    const start = process.hrtime.bigint();
    if (sync) for (let at = 0; at < 500; at++) check(fireSync(EVENTS[at & 3]));
    else for (let at = 0; at < 500; at++) check(await fire(EVENTS[at & 3]));
    times.push(Number(process.hrtime.bigint() - start) / 500);
  }
  if (wrong) throw new Error('a guard denied, or did not run');
  report('tapable', times);
}

// Its runner alone, with the parts of its configuration that the runner asks for.
async function gemini() {
  const name = '@google/gemini-cli-core';
  const at = (file) => import(pathToFileURL(path.join(modules, name, 'dist/src/hooks', file)).href);
  const { HookRunner } = await at('hookRunner.js');
  const { HookEventName, HookType, ConfigSource } = await at('types.js');
  const config = {
    isTrustedFolder: () => true,
    sanitizationConfig: { allowedEnvironmentVariables: [], blockedEnvironmentVariables: [], enableEnvironmentVariableRedaction: false },
    storage: { getPlansDir: () => '/tmp' },
  };
  const runner = new HookRunner(config);
  const text = 'all work and no play makes jack a dull boy; '.repeat(20);
  const event = { session_id: 's', transcript_path: '', cwd: '/', hook_event_name: 'BeforeTool', timestamp: '', tool_name: 'Bash', tool_input: { command: COMMAND } };
  const check = (results) => {
    for (const result of results) if (!result.success) throw result.error ?? new Error('a hook failed');
  };
  if (peer === 'gemini-runtime') {
    const list = Array.from({ length: hooks }, (_, number) => {
      const word = `rm -rf /${number}`;
      const action = async (input) => {
        await null;
        return input.tool_input.command.includes(word) ? { decision: 'deny' } : undefined;
      };
      return { type: HookType.Runtime, name: `hook-${number}`, action, timeout: 30000, source: ConfigSource.User };
    });
    check(await runner.executeHooksSequential(list, HookEventName.BeforeTool, event));
    report(name, await batched(50, () => runner.executeHooksSequential(list, HookEventName.BeforeTool, event)));
  } else if (peer === 'gemini-command') {
    const hook = { type: HookType.Command, name: 'hook', command: LINE, timeout: 30000, source: ConfigSource.User };
    const large = { ...event, tool_input: { command: text } };
    report(name, await batched(1, async () => check(await runner.executeHooksSequential([hook], HookEventName.BeforeTool, large))));
  } else {
    // A shell with children on its pipes, and a deadline: how long after it does the runner come back?
    const hook = { type: HookType.Command, name: 'hook', command: 'sleep 3 & sleep 3 & sleep 3 & wait', timeout: 200, source: ConfigSource.User };
    const start = process.hrtime.bigint();
    await runner.executeHooksSequential([hook], HookEventName.BeforeTool, event);
    report(name, [Number(process.hrtime.bigint() - start) - 200e6]);
  }
}

await (peer.endsWith('-host') ? tapableHost() : peer.startsWith('tapable') ? tapable() : gemini());
process.exit(0);
