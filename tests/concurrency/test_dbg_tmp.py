import asyncio, gc, traceback, warnings, logging
from tests.concurrency.test_cancelled import *
from tests.concurrency.test_cancelled import Cancelling, run, write
import sqlalchemy.pool.base as pb
from tests.concurrency.conftest import *
@pytest.mark.parametrize(("backend","driver"),[("postgresql-installed","postgresql+psycopg"),("sqlite","sqlite+aiosqlite")],indirect=["backend"])
async def test_x(far_log, log, application, capsys):
    orig = asyncio.Task.cancel
    bad = []
    def w(message, *a, **k):
        bad.append(str(message)[:60])
    import sqlalchemy.util as u
    pb.util.warn = w
    for at in range(1, 400):
        add_items(log, f"row {at}")
        stack = []
        class C(Cancelling):
            def __await__(self):
                steps = self.awaited.__await__()
                go_on = partial(next, steps)
                for step in count(1):
                    try:
                        waited_for = go_on()
                    except StopIteration as done:
                        return done.value
                    if step == self.at:
                        import greenlet, sys
                        stack.append(asyncio.current_task().get_stack(limit=60))
                        coro = self.awaited
                        chain=[]
                        c=coro
                        while c is not None:
                            fr = getattr(c,'cr_frame',None) or getattr(c,'gi_frame',None) or getattr(c,'ag_frame',None)
                            if fr: chain.append(f"{fr.f_code.co_qualname}:{fr.f_lineno}")
                            c = getattr(c,'cr_await',None) or getattr(c,'gi_yieldfrom',None) or getattr(c,'ag_await',None)
                        stack.append(chain)
                        asyncio.current_task().cancel()
                    try:
                        yield waited_for
                        go_on = partial(steps.send, None)
                    except BaseException as error:
                        go_on = partial(steps.throw, error)
        task = asyncio.create_task(run(C(write(far_log, f"row {at}", mutation_id=f"m{at}"), at)))
        n = len(bad)
        try:
            await task
        except asyncio.CancelledError as e:
            tb = traceback.format_exc()
        else:
            with capsys.disabled(): print("done at", at)
            break
        del task
        for _ in range(20): await asyncio.sleep(0.005)
        gc.collect()
        if len(bad) > n:
            with capsys.disabled(): print("LEAK at", at, stack[1], [l.strip() for l in tb.splitlines() if l.strip().startswith("File")][-8:])
