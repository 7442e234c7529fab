"""What a LangGraph saver has to keep: conversations that are whole, whoever runs, dies, deletes or damages them."""

from abreast.testing.saver_contract.contract import Case, SaverContract, cases
from abreast.testing.saver_contract.results import ContractBroken, Report, Result

__all__ = ["Case", "ContractBroken", "Report", "Result", "SaverContract", "cases"]
